// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/averaging/averager.hpp"
#include "core/averaging/matchmaking.hpp"
#include "core/base/scope.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::averaging {

/// Drives Matchmaking: declares in the DHT, reads it, asks leaders, serves who asks us, closes the
/// group.
///
/// How it stays fast: it reads the DHT at once and then at growing intervals from 20 ms; asks the
/// next candidate when one is silent for a moment, the first acceptance counts; remembers who was
/// silent and leaves them alone for growing times, so that invented peers cost one search; as
/// leader closes by options.expected. Thread: the network thread.
class Matchmaker {
 public:
  /// References must outlive it. `background` runs what need not be waited for.
  Matchmaker(net::Host& host,
             dht::Dht& dht,
             Scope& background,
             AveragerOptions const& options,
             std::string const& bits);

  struct Search {
    Bytes gather;
    std::optional<TimePoint> scheduled_time;
    TimePoint deadline{};
    std::function<bool()> left;  ///< nobody wants the group any more
  };

  /// One at a time: a second one waits. Errors: not_found (no group by the deadline), cancelled.
  [[nodiscard]] Co<Result<std::shared_ptr<Group const>>> find_group(Search search);

  [[nodiscard]] bool searching() const noexcept { return rules_.searching() || waiting_ > 0; }

  /// Serves rpc_join_group.
  [[nodiscard]] Co<Status> serve(net::rpc::ServerCall& call);
  /// Called for every group as soon as it is known, before any member can have begun.
  std::function<void(std::shared_ptr<Group const> const&)> on_group;

  /// Wakes a search that should look at its `left`.
  void wake() noexcept { changed_.notify_all(); }

 private:
  struct Ask;

  struct Silence {
    TimePoint until{};
    Duration next{};
    bool mild = false;  ///< we had no time to wait for its word: forgotten once it is connected
  };

  Co<Result<std::shared_ptr<Group const>>> seek(Search const& search, Scope& tasks);
  Co<void> declare(std::string key, dht::DhtTime expiration, bool here, TimePoint deadline);
  Co<void> poll(std::string key, TimePoint deadline);
  Co<void> ask(Candidate candidate, dht::DhtTime expiration, TimePoint deadline);
  Co<void> follow(net::rpc::ClientCall& call, PeerId leader, dht::DhtTime expiration);
  void take_suggestion(PeerId const& peer);
  void note_other_model(PeerId const& peer);
  void start_asking(Scope& tasks, Search const& search);
  [[nodiscard]] bool may_close();
  [[nodiscard]] Status assemble();
  void declare_now(Scope& tasks, Search const& search);
  [[nodiscard]] dht::DhtTime request_expiration(Search const& search) const;
  [[nodiscard]] dht::DhtTime dht_time(TimePoint t) const;
  [[nodiscard]] TimePoint time_point(dht::DhtTime t) const;
  void silent(PeerId const& peer, bool mild = false);
  void remember_connections();
  [[nodiscard]] bool left_alone(PeerId const& peer) const;

  // Fixed at construction.
  net::Host& host_;
  Runtime& runtime_;
  dht::Dht& dht_;
  Scope& background_;
  AveragerOptions const& options_;
  std::string const& bits_;
  std::string rpc_name_;

  // Net thread.
  Matchmaking rules_;
  Signal changed_;
  std::size_t waiting_ = 0;
  bool busy_ = false;
  dht::DhtTime last_declared_ = 0;
  TimePoint began_{};
  TimePoint last_join_{};
  std::optional<TimePoint> satisfied_since_;
  std::map<PeerId, Ask*> asking_;
  TimePoint last_ask_{};
  bool last_ask_connected_ = false;
  std::map<PeerId, Silence> silences_;
  std::set<PeerId> other_models_;  // those that the log has named
  std::set<PeerId> met_;  ///< seen connected: of these a missing connection means something
};

}  // namespace waggle::averaging
