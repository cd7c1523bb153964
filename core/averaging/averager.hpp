// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/averaging/schema.hpp"
#include "core/base/compute.hpp"
#include "core/compress/codec.hpp"
#include "core/dht/dht.hpp"
#include "core/net/host.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::averaging {

struct Group;

/// What a group is asked to know before it closes early (DESIGN.md section 6): the peers that a
/// leader expects in this round. The optimizer supplies it; without one a leader waits until its
/// declared expiration, as hivemind does.
struct Expected {
  /// Peers with a live record of this epoch, seen under that id on an authenticated connection,
  /// that did not miss the last round. Ourselves not counted.
  std::vector<PeerId> peers;
};

struct AveragerOptions {
  std::string prefix;      ///< "<run_id>_grad_averager"
  std::string class_name;  ///< "GradientAverager", "TrainingStateAverager"
  Schema schema;
  compress::Policy compression{compress::CompressionType::none};
  std::size_t part_bytes = 1u << 19;  ///< after estimated compression; all members must agree
  std::size_t parts_in_flight = 4;    ///< per reducer: larger hides latency, smaller saves memory
  Duration min_matchmaking_time = std::chrono::seconds(5);
  Duration request_timeout = std::chrono::seconds(3);
  Duration sender_timeout =
      std::chrono::seconds(15);  ///< a sender silent for longer costs its own parts
  Duration reducer_timeout = std::chrono::seconds(30);  ///< must be > sender_timeout
  std::size_t min_group_size = 2;
  std::optional<std::size_t> target_group_size;
  std::string initial_group_bits;  ///< "" : everyone shares one bucket
  bool client_mode = false;
  std::optional<double> bandwidth;  ///< any unit, only ratios matter; unset: equal shares
  /// Largest weight accepted from `peer` in this round; a larger, negative or non-finite one gets
  /// the sender banned from the round. Unset: finite and ≥ 0.
  std::function<double(PeerId const& peer)> weight_limit;
  /// Asked by a leader each time a follower joins. Unset: no early close.
  std::function<Expected()> expected;
};

/// A run of elements that one member averaged for the group.
struct ReducedSpan {
  std::size_t offset = 0;
  std::size_t numel = 0;
  std::size_t reducer = 0;  ///< position in the group
};

/// What became of one round.
struct RoundReport {
  std::vector<PeerId> group;            ///< ordered_peer_ids
  std::vector<wire::Msgpack> gathered;  ///< each member's user object, in group order
  std::vector<double> weights;          ///< as seen here, -1 where unknown
  std::vector<PeerId> banned;           ///< senders that cost their own parts here
  std::vector<PeerId> refused;          ///< of those: here, but with a weight that cannot be
  std::vector<PeerId> failed_reducers;  ///< whose parts kept their local values
  std::vector<ReducedSpan> spans;       ///< all elements, in order
  double fraction_averaged = 0;         ///< elements averaged over all elements
  std::uint64_t bytes_sent = 0;         ///< of the aggregate streams, RPC framing included
  std::uint64_t bytes_received = 0;
  std::uint64_t values_sent = 0;  ///< float32 values in parts and in replies that we sent
  Duration matchmaking{};
  Duration all_reduce{};

  /// Members that did not come, or left: as senders, unless refused, or as reducers.
  [[nodiscard]] std::vector<PeerId> missing() const;
};

struct StepOptions {
  wire::Msgpack user;   ///< our object in gather
  double weight = 1.0;  ///< finite, ≥ 0
  std::optional<TimePoint>
      scheduled_time;  ///< when the group should begin; default now + min_matchmaking_time
  bool allow_retries = true;
};

/// hivemind's DecentralizedAverager over a flat float32 buffer: matchmaking, then butterfly
/// all-reduce. Source: spec/hivemind-averaging.md sections 2 to 4, departures in README.md of this
/// folder. Thread: the network thread; codec and reduction run on `compute`.
class Averager {
 public:
  /// Serves rpc_join_group and rpc_aggregate_part (unless client_mode). References must outlive it.
  Averager(net::Host& host, dht::Dht& dht, Executor& compute, AveragerOptions options);
  ~Averager();
  [[nodiscard]] Co<void> close();

  /// A round in two halves: find a group ahead of time, then average when the values are ready.
  class Round;

  /// Begins looking for a group. One search at a time; a second waits for the first.
  [[nodiscard]] std::unique_ptr<Round> begin(StepOptions options, TimePoint deadline);

  /// A round without a search: the members of `group`, which another averager found, average with
  /// this one, too. All of them must do so, by something that all read in its `gathered`; the
  /// group's id follows from theirs. Errors come from the round.
  [[nodiscard]] std::unique_ptr<Round> follow(Group const& group);

  /// Both halves at once: values[i] becomes the group's weighted mean. On an error `values` may be
  /// partly averaged only if the error is timeout. Errors: not_found (no group), timeout, closed,
  /// invalid (a value is not finite: nothing is sent), cancelled.
  [[nodiscard]] Co<Result<RoundReport>> step(std::span<float> values,
                                             StepOptions options,
                                             TimePoint deadline);

  [[nodiscard]] AveragerOptions const& options() const noexcept;
  /// For rounds from now on; `reducer` > `sender`. The optimizer learns them from recent rounds.
  void set_timeouts(Duration sender, Duration reducer) noexcept;
  [[nodiscard]] std::string group_key() const;  ///< "<prefix>.0b<bits>"

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A search that runs, then a group that waits for its values. Destruction leaves it (the others go
/// on).
class Averager::Round {
 public:
  ~Round();
  /// Waits until a group is there. Errors: not_found, cancelled.
  [[nodiscard]] Co<Result<std::vector<PeerId>>> assembled(TimePoint deadline);
  [[nodiscard]] bool is_assembled() const noexcept;
  /// Null until assembled.
  [[nodiscard]] std::shared_ptr<Group const> group() const noexcept;
  /// Before run(): these members will not come, and their parts keep local values at once.
  void without(std::span<PeerId const> absent);
  /// Over without a group, or already run.
  [[nodiscard]] bool finished() const noexcept;
  /// Runs the all-reduce with this weight (joins with weight 0 to "tag along"). Errors as
  /// Averager::step. If there is no group yet, waits for one until the round's deadline.
  [[nodiscard]] Co<Result<RoundReport>> run(std::span<float> values,
                                            double weight,
                                            TimePoint deadline);

 private:
  friend class Averager;
  struct State;
  explicit Round(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace waggle::averaging
