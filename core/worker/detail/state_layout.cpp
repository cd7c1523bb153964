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

constexpr char const* kSecondMoment = "exp_avg_sq";

void take_averaged(std::span<float const>& values, std::span<float> out, bool second_moment) {
  if (!second_moment) {
    take(values, out);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (values[i] >= 0) out[i] = values[i];
  values = values.subspan(out.size());
}

// Calls f(name, span of one statistic of one parameter) in download order; `step` before the next
// one.
template <class F, class G>
void each_optimizer_tensor(Facts const& facts,
                           std::span<float> statistics,
                           F const& statistic,
                           G const& step) {
  auto const n = facts.parameter_values();
  std::size_t at = 0;
  for (auto const& parameter : facts.parameters) {
    for (std::size_t k = 0; k < facts.statistics.size(); ++k)
      statistic(facts.statistics[k], statistics.subspan(k * n + at, parameter.numel()));
    if (facts.step_tensors) step();
    at += parameter.numel();
  }
}

Status check_second_moments(Facts const& facts,
                            std::span<float const> values,
                            StateParts const& parts) {
  values = values.subspan(parts.parameters.size() + parts.extras.size());
  Status status = ok();
  each_optimizer_tensor(
      facts,
      parts.statistics,
      [&](std::string const& name, std::span<float> out) {
        auto const part = values.first(out.size());
        values = values.subspan(out.size());
        if (name == kSecondMoment &&
            std::any_of(part.begin(), part.end(), [](float v) { return v < 0; }))
          status = Error{Errc::invalid, "state: a second moment is below zero"};
      },
      [&] { values = values.subspan(1); });
  return status;
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

Status unpack_averaged(Facts const& facts, std::span<float const> values, StateParts const& parts) {
  WAGGLE_TRY_STATUS(
      check(values, parts.parameters.size() + parts.statistics.size() + parts.extras.size()));
  take(values, parts.parameters);
  auto const n = parts.parameters.size();
  for (std::size_t k = 0; k < facts.statistics.size(); ++k)
    take_averaged(values, parts.statistics.subspan(k * n, n), facts.statistics[k] == kSecondMoment);
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
      [&](std::string const&, std::span<float const> values) { put(out, values); },
      [&] { out.push_back(static_cast<float>(steps)); });
  return out;
}

Result<std::uint64_t> unpack_download(Facts const& facts,
                                      std::span<float const> values,
                                      StateParts const& parts) {
  WAGGLE_TRY_STATUS(check(values, facts.download_values()));
  WAGGLE_TRY_STATUS(check_second_moments(facts, values, parts));
  take(values, parts.parameters);
  take(values, parts.extras);
  float steps = -1;
  each_optimizer_tensor(
      facts,
      parts.statistics,
      [&](std::string const&, std::span<float> out) { take(values, out); },
      [&] {
        if (steps < 0) steps = values.front();
        values = values.subspan(1);
      });
  constexpr float kMost = 1e9f;
  return static_cast<std::uint64_t>(std::clamp(steps, 0.0f, kMost));
}

}  // namespace waggle::worker
