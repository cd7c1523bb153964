// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/optim/progress.hpp"

namespace waggle::optim {

/// One record of another peer, and what we know of it apart from what it says.
struct Claim {
  LocalProgress progress;
  Bytes owner;             ///< the stored subkey: the RSA key that signed it
  bool seen = false;       ///< its PeerID was met on an authenticated connection, now or earlier
  bool connected = false;  ///< it is connected now
};

/// One peer after judgement.
struct Standing {
  PeerId peer;
  std::int64_t epoch = 0;         ///< as claimed, or as a member of our last round
  double samples = 0;             ///< capped, as recorded
  double estimated = 0;           ///< the same, carried on to now
  double samples_per_second = 0;  ///< capped
  double time = 0;
  bool client_mode = false;
  bool connected = false;
  bool believed = false;
  std::string reason;  ///< why not
};

/// What the swarm looks like from here.
struct View {
  GlobalProgress progress;       ///< epoch = max(ours, swarm_epoch)
  std::int64_t swarm_epoch = 0;  ///< where at least half stands
  double progress_time = 0;      ///< DHT time of this view
  double estimated = 0;          ///< samples of progress.epoch by now, extrapolated
  bool has_peers = false;        ///< somebody else is believed and connected
  std::vector<Standing> peers;
};

/// "Nobody is believed" (DESIGN.md section 6): what records claim, cut down to what can be so.
///
/// - A record counts only if its PeerID was once seen on an authenticated connection; of several
///   records that name one peer, the key that came first counts.
/// - A rate is cut to kRateMultiple times the median of the others', or twice what the peer proved
///   by bringing samples to our rounds. A rate or sample count beyond all reason makes the whole
///   record ignored, and so does bringing far less than was claimed, twice running.
/// - Samples are cut to the target, and to what the capped rate could have done in this epoch.
/// - The epoch is the highest claimed by peers that hold half of the votes (capped rates, where no
///   unproven one weighs half alone among three), and nobody can be further ahead of where we last
///   were together than the swarm's rates could have gone since.
///
/// Pure: handed the time, no I/O. Times are DHT time.
class Belief {
 public:
  Belief(PeerId self, std::uint64_t target_batch_size, RefreshLimits limits);

  /// We entered `epoch` now: the anchor of who can be how far ahead.
  void entered(std::int64_t epoch, double now);

  /// A gradient round of ours begins: until took_part the last view is what weight_limit goes by.
  void round_begins();

  /// `group` ends this epoch with us.
  void came_along(std::span<PeerId const> group);

  /// `peer` took part in our last round, but not to its end.
  void stayed_behind(PeerId const& peer) { with_us_.erase(peer); }

  /// What became of the round since round_begins(), or of one in the present epoch. `weights` as in
  /// RoundReport, -1 where unknown. `seconds`: how long the samples took.
  void took_part(std::span<PeerId const> group, std::span<double const> weights, double seconds);

  /// Judges the records. `us.time` is now. `joining`: we have no place in the swarm yet, so only
  /// the others count and any lead is possible. O(n²) in the number of records, which the caller
  /// bounds.
  View judge(LocalProgress const& us, bool joining, std::span<Claim const> claims, double now);

  /// The largest weight to accept from `peer` in a gradient round: at most the target batch, and
  /// where the last view holds a record of this epoch at most 2 · (samples + capped rate · age),
  /// the age taken to be a second more than it is, since a batch is whole or not in the record,
  /// though never less than two equal shares, which an honest peer with an old record may bring.
  [[nodiscard]] double weight_limit(PeerId const& peer, double now) const;

  /// Members of our last round, who entered this epoch with us whatever their records say yet.
  [[nodiscard]] bool came_along(PeerId const& peer) const { return with_us_.contains(peer); }

 private:
  struct Known {
    Bytes owner;
    double last_seen = 0;
    std::int64_t epoch = -1;  ///< the last believed claim …
    double since = 0;         ///< … and when it was first heard
    double proven_rate = 0;   ///< samples a second, brought to rounds of ours
    int broken_promises = 0;
    double brought = 0;
  };

  [[nodiscard]] std::string unreasonable(Claim const& claim, double median_of_others) const;
  [[nodiscard]] std::int64_t furthest(Known const& known, double rate, double now) const;
  void cap(std::vector<Standing>& peers, LocalProgress const& us, double now) const;
  [[nodiscard]] std::int64_t epoch_of_half(std::vector<Standing> const& peers,
                                           LocalProgress const& us,
                                           bool joining) const;
  void forget(double now);

  PeerId self_;
  std::uint64_t target_;
  RefreshLimits limits_;
  std::int64_t our_epoch_ = 0;
  double entered_at_ = 0;
  bool anchored_ = false;
  std::map<PeerId, Known> known_;
  std::set<PeerId> with_us_;
  View last_;

  struct Round {
    View view;
    std::int64_t epoch = 0;
  };

  std::optional<Round> round_;  ///< under way
};

}  // namespace waggle::optim
