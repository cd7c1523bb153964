// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/averaging/averager.hpp"
#include "core/base/ids.hpp"

namespace waggle::optim {

/// What a reducer gave back that cannot be the average it owed us.
struct RefusedReducer {
  PeerId peer;
  std::string why;
  bool alone = true;  ///< its own doing: elsewhere nothing of the kind was seen
};

struct StateVerdict {
  std::vector<RefusedReducer> refused;
  double steps = 0;  ///< how far the parameters that were not refused moved; 0 if unknown
};

/// A reducer's parts carry no weight that could be checked, so that one liar among n members could
/// set its n-th of the vector to anything. This looks at each reducer's elements as a whole, with
/// what we know ourselves: what we brought, what recent averages were like, and the elements that
/// we averaged for the group, whose sums we have seen. What fails gets our own values back: a liar
/// costs the averaging of its own elements, as a dead reducer does.
///
/// Gradients. With a the mean that we brought, m what came back, s our share of the weights and
/// r = m − s·a what the others brought:
/// - loud: the mean of m² is more than (kLoud · (1 + 8/√n))² times the larger of that of a² and of
///   recent averages of the same tensors. It is the reducer's own doing if the elements that we
///   averaged are not as loud; otherwise a sender's, and ours are given up as well.
/// - against: Σ r·a lies below −kSigma · √Σ r²a² (its standard deviation if signs were chance), r
///   and a point apart (cosine < kApart), and the elements that we averaged ourselves show nothing
///   of the kind; or m is shorter than a tenth of s·a. Most of a dozen rounds must be so: an
///   average turned round, or zeros, are nearly every time; honest gradients of few independent
///   directions now and then.
///
/// State. Members stand within a few steps of each other. The distance of m from a, in steps (for
/// parameters: what our last step changed there) or in the length of a (for statistics), may be
/// kSpread times that in our own elements, or kNear if that is more, and the codec's error. Where
/// there is nothing to compare with it may be kFar lengths. That makes nobody a liar: one member
/// that saw an outlier honestly is further away. How far the rest moved us is told: a sender's lie
/// moves all elements alike, and whoever is moved far looks before it leaps.
///
/// The bounds come from honest swarms, among them one that has long converged, where one hard batch
/// is hundreds of times as loud as the others (README.md has the figures).
/// What is *not* caught: a lie within these bounds, which is no worse than a lying sender's.
/// Pure. Cost: one pass over the vector a round.
class AverageGuard {
 public:
  /// `tensors`: elements of each, in the vector's order.
  explicit AverageGuard(std::vector<std::size_t> tensors);

  /// Sets refused elements of `values` to those of `own` and notes the others as recent averages.
  /// `weight`: ours in the round.
  [[nodiscard]] std::vector<RefusedReducer> check_gradients(averaging::RoundReport const& report,
                                                            PeerId const& self,
                                                            double weight,
                                                            std::span<float const> own,
                                                            std::span<float> values);

  /// The same for a state. `before`: the parameters (the vector's first elements) as they were
  /// before our last step, empty if unknown. `codec_error`: relative, of one value.
  [[nodiscard]] StateVerdict check_state(averaging::RoundReport const& report,
                                         PeerId const& self,
                                         std::span<float const> before,
                                         double codec_error,
                                         std::span<float const> own,
                                         std::span<float> values) const;

  /// Whose gradients were refused in recent rounds by their own doing, and why.
  [[nodiscard]] std::map<PeerId, std::string> distrusted() const;

 private:
  struct Suspicion {
    double rounds = 0;  ///< recent ones in which the reducer's elements looked like a lie
    std::string why;    ///< they were refused
  };

  /// Recent suspicious rounds of a reducer, this one among them.
  double remember(PeerId const& peer, bool suspect);

  std::vector<std::size_t> ends_;  ///< of each tensor
  std::vector<double> recent_;     ///< mean square of recent averages of each tensor
  std::map<PeerId, Suspicion> suspicions_;
};

}  // namespace waggle::optim
