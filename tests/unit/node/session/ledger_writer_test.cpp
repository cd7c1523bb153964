// SPDX-License-Identifier: MIT
#include "core/node/session/ledger_writer.hpp"

#include <deque>

#include <doctest/doctest.h>

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

/// A disk that does nothing until it is told to.
struct SlowDisk final : Executor {
  std::deque<std::function<void()>> waiting;

  void post(std::function<void()> work) override { waiting.push_back(std::move(work)); }

  void run_one() {
    auto const work = std::move(waiting.front());
    waiting.pop_front();
    work();
  }
};

store::LedgerRow row_of(std::int64_t epoch) {
  store::LedgerRow row;
  row.time = 1000;
  row.operator_id = to_bytes("operator");
  row.prefix = "stripes";
  row.epoch = epoch;
  row.samples = 96;
  row.outcome = "local";
  return row;
}

}  // namespace

TEST_CASE("LedgerWriter, many rows wait for a slow disk as one piece of work") {
  test::Folder const folder;
  auto opened = store::Store::open(folder.path / "waggle.sqlite3");
  REQUIRE(opened);
  auto& store = *opened;
  SlowDisk disk;
  LedgerWriter writer(store, disk);
  for (int epoch = 1; epoch <= 1000; ++epoch) writer.add(row_of(epoch));
  CHECK(disk.waiting.size() == 1);
  disk.run_one();
  auto const sum = store.ledger_sum("", 0);
  REQUIRE(sum);
  CHECK(sum->samples == 96'000);
  // What comes later is written, too.
  writer.add(row_of(1001));
  REQUIRE(disk.waiting.size() == 1);
  disk.run_one();
  CHECK(store.ledger_sum("", 0)->samples == 96'096);
}

TEST_CASE("LedgerWriter, what was added is written although the writer is gone") {
  test::Folder const folder;
  auto opened = store::Store::open(folder.path / "waggle.sqlite3");
  REQUIRE(opened);
  SlowDisk disk;
  {
    LedgerWriter writer(*opened, disk);
    writer.add(row_of(1));
  }
  disk.run_one();
  CHECK(opened->ledger_sum("", 0)->samples == 96);
}
