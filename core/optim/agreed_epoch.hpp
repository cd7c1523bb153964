// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/wire/msgpack.hpp"

namespace waggle::optim {

/// Which epoch a group's gradient round ended, from what its members put into `gathered`: all of
/// them see the same list, so all decide alike, and peers that came one epoch apart go on together.
/// The highest epoch that more than half of the members have reached, but never more than one
/// beyond `own`; `own` itself where fewer than two members say (hivemind's send nil), or where the
/// others are further behind than one. The result may be `own` - 1: then we are the one ahead, and
/// hold. Pure.
[[nodiscard]] std::int64_t agreed_epoch(std::vector<wire::Msgpack> const& gathered,
                                        std::int64_t own);

}  // namespace waggle::optim
