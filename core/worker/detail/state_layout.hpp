// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/worker/messages.hpp"

namespace waggle::worker {

/// The parts of a training state, each flat.
struct StateParts {
  std::span<float> parameters;
  std::span<float> extras;
  std::span<float> statistics;  ///< each statistic for all parameters
};

/// Parameters, each statistic for all parameters, extras: the order of state averaging.
[[nodiscard]] std::vector<float> pack_averaged(StateParts const& parts);
/// A second moment (exp_avg_sq) that rounding or a liar made negative keeps our own value: its root
/// is taken. Errors: invalid (count, not finite); nothing is written then.
[[nodiscard]] Status unpack_averaged(Facts const& facts,
                                     std::span<float const> values,
                                     StateParts const& parts);

/// Parameters, extras, then parameter by parameter its optimizer tensors: the order of a download.
[[nodiscard]] std::vector<float> pack_download(Facts const& facts,
                                               StateParts const& parts,
                                               std::uint64_t steps);
/// Gives the optimizer's step count, from the first `step` tensor. Errors: invalid (count, not
/// finite, a second moment below zero); nothing is written then.
[[nodiscard]] Result<std::uint64_t> unpack_download(Facts const& facts,
                                                    std::span<float const> values,
                                                    StateParts const& parts);

}  // namespace waggle::worker
