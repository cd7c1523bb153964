// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/latest.hpp"
#include "core/base/scope.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

class JobRunner;
class Services;

/// Publishes a fresh Snapshot every kPeriod. Thread: the network thread.
class Observer {
 public:
  Observer(Services& services, JobRunner& runner, Latest<Snapshot>& into);
  ~Observer();
  [[nodiscard]] Co<void> close();

  /// Publishes the first one at once, then one each period. The contribution follows once the
  /// ledger was read.
  void begin();

  /// Adds to each snapshot what others know.
  void also(std::function<void(Snapshot&)> add) { also_ = std::move(add); }

 private:
  void publish();
  [[nodiscard]] Co<void> watch();
  [[nodiscard]] Co<void> read_ledger();

  Services& services_;
  JobRunner& runner_;
  Latest<Snapshot>& into_;
  TimePoint started_;
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
