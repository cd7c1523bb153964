// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/averaging/averager.hpp"
#include "core/base/scope.hpp"
#include "core/base/signal.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/dht.hpp"
#include "core/optim/attendance.hpp"
#include "core/optim/belief.hpp"
#include "core/optim/companions.hpp"
#include "core/optim/performance_ema.hpp"

namespace waggle::optim {

struct TrackerOptions {
  std::string run_id;
  std::uint64_t target_batch_size = 512;
  bool client_mode = false;
  double expiration = 60;  ///< seconds a record lives; republished at half
  /// Between two reports of samples. An entered epoch is told at once.
  Duration publish_every = std::chrono::milliseconds(300);
  RefreshLimits refresh;
};

/// Tells the swarm how far we are and learns how far it is. Publishes our signed record under
/// "<run_id>_progress", fetches the others', meets their Companions, and judges them all through
/// Belief. Between fetches progress is carried on by rates, so that short epochs need not wait for
/// the DHT. Source: spec/hivemind-averaging.md section 6. Thread: the network thread.
class ProgressTracker {
 public:
  ProgressTracker(net::Host& host,
                  dht::Dht& dht,
                  crypto::RecordKey const& record_key,
                  TrackerOptions options);
  ~ProgressTracker();

  void start();
  /// Stops and stores nil in place of our record, if one may live, within a second or so.
  [[nodiscard]] Co<void> close();

  /// `samples` more for this epoch, which took `interval` since the last batch or its begin.
  void trained(std::uint64_t samples, Duration interval);
  /// Samples of this epoch that are lost.
  void dropped();
  /// We are in `epoch` with no samples yet. Told to everybody at once.
  void entered(std::int64_t epoch);
  /// The epoch we are in has another number; its samples stay.
  void renumber(std::int64_t epoch);
  /// Only the others count until then, see Belief::judge.
  void set_joining(bool joining);
  /// While paused nothing is published and the record is withdrawn.
  void set_silent(bool silent);

  /// A gradient round of ours begins: the records as they are now say what may be brought to it,
  /// also if we enter the next epoch before it is over.
  void round_begins();
  /// They end this epoch with us, whatever their records say yet.
  void came_along(std::span<PeerId const> group);
  /// A gradient round of ours with `waited_for` expected is over; `report` null: no group was
  /// found.
  void round_over(averaging::RoundReport const* report, std::span<PeerId const> waited_for);
  /// They did not take part to the end in a round of any kind: not to be waited for in the next,
  /// nor taken to be where we are.
  void fell_silent(std::span<PeerId const> peers);

  /// Judged as of now.
  [[nodiscard]] View view();
  /// Fetches once and waits for it. Errors: timeout, cancelled.
  [[nodiscard]] Co<Status> refresh(TimePoint deadline);

  /// Whom a group of ours waits for: believed, connected, in this epoch or at its edge, and not
  /// away from the last rounds.
  [[nodiscard]] averaging::Expected expected();
  [[nodiscard]] double weight_limit(PeerId const& peer) const;

  [[nodiscard]] std::uint64_t samples() const noexcept { return us_.samples_accumulated; }

  [[nodiscard]] double samples_per_second() const noexcept { return ema_.samples_per_second(); }

  /// Whether a record of somebody never met is still being dialled.
  [[nodiscard]] bool dialling() const noexcept { return companions_.dialling(); }

  /// Whether any fetch has succeeded.
  [[nodiscard]] bool informed() const noexcept { return fetches_ > 0; }

  /// Told after each fetch.
  [[nodiscard]] Signal& news() noexcept { return news_; }

 private:
  Co<void> publish_loop();
  Co<void> fetch_loop();
  Co<Status> publish(bool nil);
  Co<Status> fetch();

  net::Host& host_;
  Runtime& runtime_;
  dht::Dht& dht_;
  TrackerOptions options_;
  dht::Id key_;
  Bytes subkey_;

  Companions companions_;
  Belief belief_;
  Attendance attendance_;
  PerformanceEma ema_;
  LocalProgress us_;
  bool joining_ = true;
  bool silent_ = false;
  std::int64_t last_active_epoch_ = -1;
  double entered_at_ = 0;
  double round_seconds_ = 0;  ///< how long the samples of the round under way took

  std::vector<Claim> claims_;
  std::uint64_t fetches_ = 0;

  bool dirty_ = false;
  bool urgent_ = false;
  bool withdraw_ = false;
  bool published_ = false;
  bool fetch_soon_ = false;
  Signal publish_wanted_;
  Signal fetch_wanted_;
  Signal news_;
  Scope scope_;
};

}  // namespace waggle::optim
