// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/scope.hpp"
#include "core/base/signal.hpp"
#include "core/node/snapshots.hpp"

namespace waggle::node {

class JobRunner;
class Services;

/// Makes a Snapshot of everything each time that somebody wants one. Thread: the network thread,
/// where nothing else is said.
class Observer {
 public:
  Observer(Services& services, JobRunner& runner, Snapshots& into);
  ~Observer();
  [[nodiscard]] Co<void> close();

  /// Makes the first one at once, which tells who we are, a whole one once the ledger was read, and
  /// then those that are asked for.
  void begin();

  /// Adds to each snapshot what others know.
  void also(std::function<void(Snapshot&)> add) { also_ = std::move(add); }

 private:
  void publish();
  [[nodiscard]] Co<void> serve();
  [[nodiscard]] Co<void> read_ledger();

  Services& services_;
  JobRunner& runner_;
  Snapshots& into_;
  TimePoint started_;
  bool wanted_ = false;
  Signal wants_;
  std::function<void(Snapshot&)> also_;
  ContributionView today_;
  ContributionView week_;
  ContributionView all_;
  std::vector<SpanView> by_hour_;
  std::vector<SpanView> by_day_;
  std::vector<SpanView> by_week_;
  Scope scope_;
};

}  // namespace waggle::node
