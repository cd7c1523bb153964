// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/averaging/allreduce.hpp"
#include "core/averaging/averager.hpp"
#include "core/averaging/matchmaker.hpp"
#include "core/base/scope.hpp"
#include "core/base/signal.hpp"

namespace waggle::averaging {

/// What an averager shares with its rounds: its groups, the calls that it serves, its search.
struct Averager::State {
  State(net::Host& h, dht::Dht& d, Executor& c, AveragerOptions o)
      : host(h),
        runtime(h.runtime()),
        compute(c),
        options(std::move(o)),
        bits(options.initial_group_bits),
        scope(runtime),
        changed(runtime),
        matchmaker(h, d, scope, options, bits) {}

  net::Host& host;
  Runtime& runtime;
  Executor& compute;
  AveragerOptions options;
  std::string bits;
  Scope scope;
  Signal changed;  // groups, active, closing
  Matchmaker matchmaker;
  std::vector<std::shared_ptr<AllReduce>> groups;
  std::vector<net::Registration> registrations;
  std::map<PeerId, std::size_t> early;  // streams that wait for their group
  std::size_t early_total = 0;
  std::size_t active = 0;  // calls being served
  bool closing = false;

  void on_group(std::shared_ptr<Group const> const& group);
  void add(std::shared_ptr<Group const> const& group);
  [[nodiscard]] std::shared_ptr<AllReduce> find(ByteView group_id) const;
  Co<Status> serve_join(net::rpc::ServerCall& call);
  Co<Status> serve_aggregate(net::rpc::ServerCall& call);
  Co<Result<std::shared_ptr<AllReduce>>> await_group(PeerId caller, Bytes group_id);
};

/// One round: the search for its group, then the group's reduction. Its search may outlive it.
struct Averager::Round::State {
  explicit State(std::shared_ptr<Averager::State> a)
      : averager(std::move(a)), changed(averager->runtime) {}

  std::shared_ptr<Averager::State> averager;
  StepOptions options;
  TimePoint deadline{};
  TimePoint began{};
  Duration matchmaking{};
  Signal changed;
  std::shared_ptr<AllReduce> reduce;
  std::optional<Error> failure;
  bool left = false;
  bool ran = false;

  static Co<void> search(std::shared_ptr<State> round);
  Co<Status> wait_for_group(TimePoint until);

  [[nodiscard]] TimePoint patience(TimePoint until) const;
};

}  // namespace waggle::averaging
