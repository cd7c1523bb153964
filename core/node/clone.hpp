// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node {

/// Whether somebody else answers as `self` right now: a copy of our data directory that was started
/// before us. A key made for this one call dials `own` (where we listened last) and, through
/// `seeds`, whatever addresses other peers know of `self`. Call it before listening: then nobody
/// who proves `self` can be ourselves, and old addresses in others' books answer nobody. The
/// address that answered; nothing if none did within `patience`, or on cancellation.
/// Thread: the network thread.
[[nodiscard]] Co<std::optional<wire::Multiaddr>> find_clone(Runtime& runtime,
                                                            PeerId self,
                                                            std::vector<wire::Multiaddr> own,
                                                            std::vector<wire::Multiaddr> seeds,
                                                            Duration patience);

}  // namespace waggle::node
