// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/averaging/group.hpp"
#include "core/averaging/messages.hpp"
#include "core/dht/dht.hpp"

namespace waggle::averaging {

/// A declared peer, as read from the DHT.
struct Candidate {
  PeerId peer;
  dht::DhtTime expiration = 0;
  friend bool operator==(Candidate const&, Candidate const&) = default;
};

/// Who joined us, and what became of it. Shared with the coroutine that serves the follower's call.
struct Follower {
  enum class Fate : std::uint8_t { waiting, begins, disbanded, gone };
  PeerId peer;
  JoinRequest request;
  Fate fate = Fate::waiting;
  std::shared_ptr<Group const> group;      ///< begins
  std::optional<PeerId> suggested_leader;  ///< disbanded
};

/// The rules of finding a group, without clock or network: who leads, who may join, when to close.
/// The earliest (expiration, id bytes) leads; one asks only peers that expire before oneself;
/// clients ask anybody.
///
///     begin → declare → listed … → next_leader → ask → follow → (BEGIN) joined
///                                └ nobody earlier: check_join + accept … → may_close → assemble
///
/// Unlike hivemind no lock is held while an own request is under way: requests that cross are
/// decided by the leadership order at once (spec section 2.8 lets them block each other until a
/// timeout). Source: spec/hivemind-averaging.md sections 2.5 to 2.7. Thread: the network thread;
/// pure.
class Matchmaking {
 public:
  struct Settings {
    PeerId self;
    Bytes schema_hash;
    bool client_mode = false;
    std::size_t min_group_size = 2;
    std::optional<std::size_t> target_group_size;
  };

  static constexpr dht::DhtTime kUndeclared = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxSuggestions =
      8;  ///< followed in one search; more: two leaders could play ping-pong
  static constexpr std::size_t kMaxQueue = 4096;  ///< declared peers looked at: the earliest

  explicit Matchmaking(Settings settings) : settings_(std::move(settings)) {}

  /// A new search under `key`. What the last one left is forgotten.
  void begin(std::string key, Bytes gather);
  /// Over: followers are sent away.
  void end();

  [[nodiscard]] bool searching() const noexcept { return searching_; }

  void declare(dht::DhtTime expiration) noexcept { declared_ = expiration; }

  [[nodiscard]] dht::DhtTime declared() const noexcept { return declared_; }

  [[nodiscard]] std::string const& key() const noexcept { return key_; }

  /// Replaces the queue by what stands in the DHT at `now`; expired entries and ourselves are
  /// dropped.
  void listed(std::vector<Candidate> entries, dht::DhtTime now);

  [[nodiscard]] std::vector<Candidate> const& queue() const noexcept { return queue_; }

  /// Whom to ask next, in order of leadership: not asked yet at that expiration, before us. `skip`
  /// says whom not to.
  [[nodiscard]] std::optional<Candidate> next_leader(
      std::function<bool(PeerId const&)> const& skip) const;

  void asked(Candidate const& candidate) {
    attempts_.insert({candidate.peer, candidate.expiration});
    if (suggestion_ == candidate.peer) suggestion_.reset();
  }

  /// Somebody who declined or disbanded named a better leader.
  void suggested(PeerId const& peer);
  [[nodiscard]] JoinRequest join_request(dht::DhtTime expiration) const;

  /// What to answer, in hivemind's order of checks; accepted if none applies. `asking`: an own
  /// request to that very peer is under way.
  [[nodiscard]] MessageCode check_join(PeerId const& caller,
                                       JoinRequest const& request,
                                       bool asking) const;
  [[nodiscard]] std::shared_ptr<Follower> accept(PeerId const& caller, JoinRequest request);
  void left(std::shared_ptr<Follower> const& follower);

  [[nodiscard]] std::vector<std::shared_ptr<Follower>> const& followers() const noexcept {
    return followers_;
  }

  [[nodiscard]] bool full() const noexcept {
    return settings_.target_group_size && followers_.size() + 1 >= *settings_.target_group_size;
  }

  [[nodiscard]] bool enough() const noexcept {
    return followers_.size() + 1 >= settings_.min_group_size;
  }

  [[nodiscard]] bool has_all(std::vector<PeerId> const& expected) const;
  void disband();

  /// We were accepted: our own followers are sent to our leader.
  void follow(PeerId const& leader);

  void unfollow() noexcept { leader_.reset(); }

  [[nodiscard]] std::optional<PeerId> const& leader() const noexcept { return leader_; }

  /// As leader, with everybody who joined. `order` gives a uniform number below its argument. The
  /// group, or why not: a follower whose gather does not parse is never accepted, so only the size
  /// can be at fault.
  [[nodiscard]] Result<std::shared_ptr<Group const>> assemble(
      Bytes group_id, std::function<std::uint64_t(std::uint64_t)> const& below);
  /// As follower, by the leader's word. Errors: as make_group, refused (not our leader).
  [[nodiscard]] Result<std::shared_ptr<Group const>> joined(MessageFromLeader const& message);

  [[nodiscard]] std::shared_ptr<Group const> const& group() const noexcept { return group_; }

  [[nodiscard]] Settings const& settings() const noexcept { return settings_; }

 private:
  [[nodiscard]] bool leads_before(Candidate const& other) const noexcept;

  Settings settings_;
  bool searching_ = false;
  std::string key_;
  Bytes gather_;
  dht::DhtTime declared_ = kUndeclared;
  std::vector<Candidate> queue_;
  std::set<std::pair<PeerId, dht::DhtTime>> attempts_;
  std::optional<PeerId> suggestion_;
  std::size_t suggestions_ = 0;
  std::optional<PeerId> leader_;
  std::vector<std::shared_ptr<Follower>> followers_;
  std::shared_ptr<Group const> group_;
};

/// hivemind's rule for how long a declaration stands.
[[nodiscard]] inline dht::DhtTime declaration(dht::DhtTime now,
                                              dht::DhtTime scheduled,
                                              double min_matchmaking_seconds,
                                              dht::DhtTime search_end) noexcept {
  return std::min(std::max(scheduled, now + min_matchmaking_seconds), search_end);
}

}  // namespace waggle::averaging
