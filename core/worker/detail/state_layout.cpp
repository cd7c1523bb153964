// SPDX-License-Identifier: MIT
#include "core/worker/detail/state_layout.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace waggle::worker {
namespace {

Status check(std::span<float const> values, std::size_t expected) {
  if (values.size() != expected)
    return Error{Errc::invalid,
                 cat("state of ", values.size(), " values, the model has ", expected)};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return Error{Errc::invalid, cat("state: value ", i, " is not finite")};
  return ok();
}

void put(std::vector<float>& out, std::span<float const> part) {
  out.insert(out.end(), part.begin(), part.end());
}

std::span<float const> take(std::span<float const>& values, std::span<float> out) {
  std::copy_n(values.begin(), out.size(), out.begin());
  return values = values.subspan(out.size());
}

// Calls f(span of one statistic of one parameter, …) in download order; `step` before the next one.
template <class F, class G>
void each_optimizer_tensor(Facts const& facts,
                           std::span<float> statistics,
                           F const& statistic,
                           G const& step) {
  auto const n = facts.parameter_values();
  std::size_t at = 0;
  for (auto const& parameter : facts.parameters) {
    for (std::size_t k = 0; k < facts.statistics.size(); ++k)
      statistic(statistics.subspan(k * n + at, parameter.numel()));
    if (facts.step_tensors) step();
    at += parameter.numel();
  }
}

}  // namespace

std::vector<float> pack_averaged(StateParts const& parts) {
  std::vector<float> out;
  out.reserve(parts.parameters.size() + parts.statistics.size() + parts.extras.size());
  put(out, parts.parameters);
  put(out, parts.statistics);
  put(out, parts.extras);
  return out;
}

Status unpack_averaged(std::span<float const> values, StateParts const& parts) {
  WAGGLE_TRY_STATUS(
      check(values, parts.parameters.size() + parts.statistics.size() + parts.extras.size()));
  take(values, parts.parameters);
  take(values, parts.statistics);
  take(values, parts.extras);
  return ok();
}

std::vector<float> pack_download(Facts const& facts, StateParts const& parts, std::uint64_t steps) {
  std::vector<float> out;
  out.reserve(facts.download_values());
  put(out, parts.parameters);
  put(out, parts.extras);
  each_optimizer_tensor(
      facts,
      parts.statistics,
      [&](std::span<float const> values) { put(out, values); },
      [&] { out.push_back(static_cast<float>(steps)); });
  return out;
}

Result<std::uint64_t> unpack_download(Facts const& facts,
                                      std::span<float const> values,
                                      StateParts const& parts) {
  WAGGLE_TRY_STATUS(check(values, facts.download_values()));
  take(values, parts.parameters);
  take(values, parts.extras);
  float steps = -1;
  each_optimizer_tensor(
      facts,
      parts.statistics,
      [&](std::span<float> out) { take(values, out); },
      [&] {
        if (steps < 0) steps = values.front();
        values = values.subspan(1);
      });
  constexpr float kMost = 1e9f;
  return static_cast<std::uint64_t>(std::clamp(steps, 0.0f, kMost));
}

}  // namespace waggle::worker
