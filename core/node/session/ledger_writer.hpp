// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/base/compute.hpp"
#include "core/store/store.hpp"

namespace waggle::node {

/// Writes the contribution ledger behind the network thread's back. A row is a commit that waits
/// for the disk, and small tasks end fifty epochs a second: rows that come while one is written go
/// together with the next, so that the thread's other work (blobs that peers wait for) never
/// queues up behind them. Thread: the network thread; store and disk outlive what add() posted.
class LedgerWriter {
 public:
  LedgerWriter(store::Store& store, Executor& disk);

  /// Returns at once. A row that cannot be written is lost, and the log says why.
  void add(store::LedgerRow row);

 private:
  struct State;
  Executor& disk_;
  std::shared_ptr<State> state_;
};

}  // namespace waggle::node
