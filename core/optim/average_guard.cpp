// SPDX-License-Identifier: MIT
#include "core/optim/average_guard.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/text.hpp"

namespace waggle::optim {

namespace {

using averaging::ReducedSpan;
using averaging::RoundReport;

// Larger lets more through, smaller refuses honest rounds: README of this folder.
constexpr double kLoud = 6;
constexpr double kSigma = 8;
constexpr double kApart = -0.2;
constexpr double kLikeOurs = 0.3;
constexpr double kSpread = 8;
constexpr double kNearSteps = 0.5;
constexpr double kNearLength = 0.5;
constexpr double kFarLength = 4;
// Elements of our own from which others are judged.
constexpr std::size_t kEnough = 32;
// How fast what recent averages were like is forgotten, a round.
constexpr double kForget = 0.1;

/// What is added up over one reducer's elements.
struct Sums {
  std::size_t n = 0;
  double own = 0;      // Σ a²
  double mean = 0;     // Σ m²
  double rest = 0;     // Σ r²
  double dot = 0;      // Σ r·a
  double product = 0;  // Σ r²·a²
  double recent = 0;   // Σ of recent averages' mean squares
  double moved = 0;    // Σ (m−a)²
  double step = 0;     // Σ (a−before)²

  [[nodiscard]] double cosine() const {
    double const lengths = std::sqrt(own) * std::sqrt(rest);
    return lengths > 0 ? dot / lengths : 0;
  }
};

double widened(std::size_t n) {
  return 1 + 8 / std::sqrt(static_cast<double>(n));
}

void set_own(RoundReport const& report,
             std::size_t reducer,
             std::span<float const> own,
             std::span<float> values) {
  for (auto const& span : report.spans)
    if (span.reducer == reducer)
      std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(span.offset),
                  span.numel,
                  values.begin() + static_cast<std::ptrdiff_t>(span.offset));
}

// Whether the report is of this vector at all; ours always is.
bool fits(RoundReport const& report, std::size_t numel) {
  return std::all_of(report.spans.begin(), report.spans.end(), [&](ReducedSpan const& s) {
    return s.reducer < report.group.size() && s.offset <= numel && s.numel <= numel - s.offset;
  });
}

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The figure of the elements that we averaged; without any, the middle one of three others or
/// more, so that one liar cannot be it.
std::optional<double> reference(std::vector<Sums> const& sums,
                                std::optional<std::size_t> self,
                                double (*figure)(Sums const&)) {
  if (self && sums[*self].n >= kEnough) return figure(sums[*self]);
  std::vector<double> others;
  for (auto const& s : sums)
    if (s.n >= kEnough) others.push_back(figure(s));
  if (others.size() < 3) return std::nullopt;
  return median(std::move(others));
}

std::optional<std::size_t> position(RoundReport const& report, PeerId const& peer) {
  auto const found = std::find(report.group.begin(), report.group.end(), peer);
  if (found == report.group.end()) return std::nullopt;
  return static_cast<std::size_t>(found - report.group.begin());
}

}  // namespace

AverageGuard::AverageGuard(std::vector<std::size_t> tensors) : recent_(tensors.size()) {
  std::size_t end = 0;
  for (auto const numel : tensors) ends_.push_back(end += numel);
}

std::vector<RefusedReducer> AverageGuard::check_gradients(RoundReport const& report,
                                                          PeerId const& self,
                                                          double weight,
                                                          std::span<float const> own,
                                                          std::span<float> values) {
  std::vector<RefusedReducer> refused;
  if (!fits(report, values.size())) return refused;
  auto const us = position(report, self);
  double all = 0;
  for (std::size_t i = 0; i < report.weights.size(); ++i)
    if (us != i && report.weights[i] > 0) all += report.weights[i];
  // Who reduces nothing knows nobody's weight: then nothing of m is taken to be ours.
  double const share = all > 0 ? weight / (all + weight) : 0;

  std::vector<Sums> sums(report.group.size());
  for (auto const& span : report.spans) {
    auto& s = sums[span.reducer];
    s.n += span.numel;
    auto tensor = static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), span.offset) - ends_.begin());
    for (std::size_t i = span.offset; i < span.offset + span.numel; ++i) {
      while (tensor < ends_.size() && i >= ends_[tensor]) ++tensor;
      double const a = own[i];
      double const m = values[i];
      double const r = m - share * a;
      s.own += a * a;
      s.mean += m * m;
      s.rest += r * r;
      s.dot += r * a;
      s.product += r * r * a * a;
      if (tensor < recent_.size()) s.recent += recent_[tensor];
    }
  }
  auto const ours = reference(sums, us, [](Sums const& s) { return s.cosine(); });
  std::vector<bool> bad(report.group.size());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    auto const& s = sums[p];
    if (s.n == 0 || us == p) continue;
    double const known = std::max(s.own, s.recent);
    double const bound = kLoud * widened(s.n);
    double const cosine = s.cosine();
    std::string why;
    if (!std::isfinite(s.mean))
      why = "its average is not finite";
    else if (known > 0 && s.mean > bound * bound * known)
      why = cat("its average is ", std::sqrt(s.mean / known), " times what gradients are here");
    else if (ours && s.dot < -kSigma * std::sqrt(s.product) && cosine < kApart &&
             cosine < *ours - kLikeOurs)
      why = cat("its average points against ours (", cosine, "), elsewhere ", *ours);
    if (why.empty()) continue;
    bad[p] = true;
    set_own(report, p, own, values);
    refused.push_back({report.group[p], std::move(why)});
  }

  // Refused elements say nothing new.
  std::vector<double> squares(recent_.size());
  std::vector<std::size_t> counts(recent_.size());
  for (auto const& span : report.spans) {
    if (bad[span.reducer]) continue;
    auto tensor = static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), span.offset) - ends_.begin());
    for (std::size_t i = span.offset; i < span.offset + span.numel; ++i) {
      while (tensor < ends_.size() && i >= ends_[tensor]) ++tensor;
      if (tensor >= ends_.size()) break;
      squares[tensor] += static_cast<double>(values[i]) * values[i];
      ++counts[tensor];
    }
  }
  for (std::size_t t = 0; t < recent_.size(); ++t) {
    if (counts[t] == 0) continue;
    double const now = squares[t] / static_cast<double>(counts[t]);
    recent_[t] = std::max(now, (1 - kForget) * recent_[t] + kForget * now);
  }
  return refused;
}

StateVerdict AverageGuard::check_state(RoundReport const& report,
                                       PeerId const& self,
                                       std::span<float const> before,
                                       double codec_error,
                                       std::span<float const> own,
                                       std::span<float> values) const {
  StateVerdict verdict;
  if (!fits(report, values.size())) return verdict;
  auto const us = position(report, self);
  // Parameters are measured in steps, everything else in its own length.
  std::vector<Sums> steps(report.group.size());
  std::vector<Sums> lengths(report.group.size());
  for (auto const& span : report.spans) {
    for (std::size_t i = span.offset; i < span.offset + span.numel; ++i) {
      bool const parameter = i < before.size();
      auto& s = parameter ? steps[span.reducer] : lengths[span.reducer];
      double const a = own[i];
      double const d = values[i] - a;
      ++s.n;
      s.own += a * a;
      s.moved += d * d;
      if (parameter) s.step += (a - before[i]) * (a - before[i]);
    }
  }
  auto const our_steps = reference(
      steps, us, [](Sums const& s) { return s.step > 0 ? std::sqrt(s.moved / s.step) : 0; });
  auto const our_lengths = reference(
      lengths, us, [](Sums const& s) { return s.own > 0 ? std::sqrt(s.moved / s.own) : 0; });
  Sums all;
  for (std::size_t p = 0; p < steps.size(); ++p) {
    std::string why;
    auto const judge =
        [&](Sums const& s, double unit, std::optional<double> ours, double near, char const* name) {
          if (s.n == 0 || s.own <= 0 || !why.empty()) return;
          double const moved = std::sqrt(s.moved);
          double const own_length = std::sqrt(s.own);
          double bound = kFarLength * own_length;
          if (ours && unit > 0)
            bound = std::max(kSpread * *ours, near) * unit + codec_error * own_length;
          if (!(moved <= widened(s.n) * bound))
            why = cat("its average state is ", moved / own_length, " of our ", name, " away");
        };
    if (us != p) {
      judge(steps[p], std::sqrt(steps[p].step), our_steps, kNearSteps, "parameters");
      judge(lengths[p], std::sqrt(lengths[p].own), our_lengths, kNearLength, "statistics");
    }
    if (why.empty()) {
      all.moved += steps[p].moved;
      all.step += steps[p].step;
      continue;
    }
    set_own(report, p, own, values);
    verdict.refused.push_back({report.group[p], std::move(why)});
  }
  if (all.step > 0) verdict.steps = std::sqrt(all.moved / all.step);
  return verdict;
}

void LyingReducers::round(std::span<PeerId const> group, std::span<RefusedReducer const> refused) {
  auto const lied = [&](PeerId const& peer) {
    return std::find_if(
        refused.begin(), refused.end(), [&](RefusedReducer const& r) { return r.peer == peer; });
  };
  for (auto const& peer : group) {
    auto const lie = lied(peer);
    if (lie == refused.end()) {
      strikes_.erase(peer);
      continue;
    }
    if (strikes_.size() >= kMostRemembered) strikes_.clear();
    if (reasons_.size() >= kMostRemembered) reasons_.clear();
    if (++strikes_[peer] >= kStrikes) reasons_[peer] = lie->why;
  }
}

bool LyingReducers::shunned(PeerId const& peer) const {
  return reasons_.contains(peer);
}

}  // namespace waggle::optim
