// SPDX-License-Identifier: MIT
#include "core/node/session/ledger_writer.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "core/base/log.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMostRows = 10'000;  // a disk that hangs for minutes holds up no more memory

}  // namespace

struct LedgerWriter::State {
  store::Store& store;
  std::mutex mutex;
  std::vector<store::LedgerRow> rows;  // guarded by mutex
  bool posted = false;                 // guarded by mutex

  explicit State(store::Store& s) : store(s) {}

  void write() {
    std::vector<store::LedgerRow> taken;
    {
      std::lock_guard const lock(mutex);
      taken.swap(rows);
      posted = false;
    }
    if (auto const written = store.add_ledger(taken); !written)
      log::warning("store", written.error().detail);
  }
};

LedgerWriter::LedgerWriter(store::Store& store, Executor& disk)
    : disk_(disk), state_(std::make_shared<State>(store)) {
}

void LedgerWriter::add(store::LedgerRow row) {
  {
    std::lock_guard const lock(state_->mutex);
    if (state_->rows.size() == kMostRows) {
      log::warning("store", "the disk takes no rows of the ledger; one of an epoch is lost");
      return;
    }
    state_->rows.push_back(std::move(row));
    if (std::exchange(state_->posted, true)) return;
  }
  disk_.post([state = state_] { state->write(); });
}

}  // namespace waggle::node
