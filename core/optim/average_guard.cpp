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
constexpr double kLoud = 1000;
constexpr double kSigma = 8;
constexpr double kApart = -0.2;
constexpr double kLikeOurs = 0.3;
constexpr double kQuiet = 0.1;
// How fast a suspicious round is forgotten, and how many are too many: six running, or half of them
// for long.
constexpr double kRemember = 0.9;
constexpr double kTooMany = 4.5;
constexpr double kForgiven = 0.5;
constexpr std::size_t kMostRemembered = 1024;
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

  /// In lengths of what gradients are like here; 0 if nothing is known.
  [[nodiscard]] double loudness() const {
    double const known = std::max(own, recent);
    return known > 0 ? std::sqrt(mean / known) : 0;
  }

  [[nodiscard]] double steps_moved() const { return step > 0 ? std::sqrt(moved / step) : 0; }

  [[nodiscard]] double lengths_moved() const { return own > 0 ? std::sqrt(moved / own) : 0; }
};

double widened(std::size_t n) {
  return 1 + 8 / std::sqrt(static_cast<double>(n));
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
                                double (Sums::*figure)() const) {
  if (self && sums[*self].n >= kEnough) return (sums[*self].*figure)();
  std::vector<double> others;
  for (auto const& s : sums)
    if (s.n >= kEnough) others.push_back((s.*figure)());
  if (others.size() < 3) return std::nullopt;
  return median(std::move(others));
}

std::optional<std::size_t> position(RoundReport const& report, PeerId const& peer) {
  auto const found = std::find(report.group.begin(), report.group.end(), peer);
  if (found == report.group.end()) return std::nullopt;
  return static_cast<std::size_t>(found - report.group.begin());
}

/// Sets the elements of `values` that these reducers averaged back to `own`.
void take_back(RoundReport const& report,
               std::span<RefusedReducer const> refused,
               std::span<float const> own,
               std::span<float> values) {
  for (auto const& r : refused) {
    auto const reducer = position(report, r.peer);
    for (auto const& span : report.spans) {
      if (span.reducer != reducer) continue;
      auto const from = own.subspan(span.offset, span.numel);
      std::copy(from.begin(), from.end(), values.subspan(span.offset, span.numel).begin());
    }
  }
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
  auto const our_cosine = reference(sums, us, &Sums::cosine);
  auto const our_loudness = reference(sums, us, &Sums::loudness);
  std::vector<bool> bad(report.group.size());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    auto const& s = sums[p];
    if (s.n == 0) continue;
    auto const& peer = report.group[p];
    double const bound = kLoud * widened(s.n);
    double const cosine = s.cosine();
    bool const quiet = s.mean < kQuiet * kQuiet * share * share * s.own;
    bool const against = our_cosine && s.dot < -kSigma * std::sqrt(s.product) && cosine < kApart &&
                         cosine < *our_cosine - kLikeOurs;
    bool const loud = !(s.loudness() <= bound);
    bool const alone = loud ? our_loudness && *our_loudness <= bound : quiet || against;
    bool const too_often = us != p && remember(peer, alone) > kTooMany;
    if (!loud && !too_often) continue;
    auto why = loud ? cat("its average is ", s.loudness(), " times what gradients are here")
                    : cat("its averages are nothing, or against what others average: ", cosine);
    bad[p] = true;
    refused.push_back({peer, why, us != p && (alone || too_often)});
    if (refused.back().alone) suspicions_[peer].why = std::move(why);
  }
  take_back(report, refused, own, values);

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

double AverageGuard::remember(PeerId const& peer, bool suspect) {
  if (!suspect && !suspicions_.contains(peer)) return 0;
  if (suspicions_.size() >= kMostRemembered) suspicions_.clear();
  auto& rounds = suspicions_[peer].rounds;
  rounds = kRemember * rounds + (suspect ? 1 : 0);
  if (rounds >= kForgiven) return rounds;
  suspicions_.erase(peer);
  return 0;
}

std::map<PeerId, std::string> AverageGuard::distrusted() const {
  std::map<PeerId, std::string> reasons;
  for (auto const& [peer, suspicion] : suspicions_)
    if (!suspicion.why.empty()) reasons[peer] = suspicion.why;
  return reasons;
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
  auto const our_steps = reference(steps, us, &Sums::steps_moved);
  auto const our_lengths = reference(lengths, us, &Sums::lengths_moved);
  Sums all;
  for (std::size_t p = 0; p < steps.size(); ++p) {
    std::string why;
    auto const judge = [&](Sums const& s,
                           double unit,
                           std::optional<double> ours,
                           double near_enough,
                           char const* name) {
      if (s.n == 0 || s.own <= 0 || !why.empty()) return;
      double const moved = std::sqrt(s.moved);
      double const own_length = std::sqrt(s.own);
      double bound = kFarLength * own_length;
      if (ours && unit > 0)
        bound = std::max(kSpread * *ours, near_enough) * unit + codec_error * own_length;
      if (!(moved <= widened(s.n) * bound))
        why = cat("its average state is ", moved / own_length, " of our ", name, " away");
    };
    if (us != p) {
      judge(steps[p], std::sqrt(steps[p].step), our_steps, kNearSteps, "parameters");
      judge(lengths[p], std::sqrt(lengths[p].own), our_lengths, kNearLength, "statistics");
    }
    if (!why.empty()) {
      verdict.refused.push_back({report.group[p], std::move(why), false});
      continue;
    }
    all.moved += steps[p].moved;
    all.step += steps[p].step;
  }
  take_back(report, verdict.refused, own, values);
  verdict.steps = all.steps_moved();
  return verdict;
}

}  // namespace waggle::optim
