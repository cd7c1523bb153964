// SPDX-License-Identifier: MIT
#include "core/node/session/wish.hpp"

#include <doctest/doctest.h>

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

PeerId operator_id() {
  return *PeerId::from_bytes(to_bytes("\x12\x20 an operator of thirty-four bytes"));
}

store::Store open(test::Folder const& folder) {
  auto store = store::Store::open(folder.path / "waggle.sqlite3");
  REQUIRE(store);
  return *std::move(store);
}

}  // namespace

TEST_SUITE("wish") {
  TEST_CASE("what was asked last stands when the store is opened again") {
    test::Folder const folder;
    store::KnownTask task;
    task.operator_id = to_bytes(operator_id().bytes());
    task.prefix = "stripes";
    task.version = 7;
    task.joined = true;
    {
      auto store = open(folder);
      REQUIRE(store.put_task(task));
      CHECK(*read_wish(store, operator_id(), "stripes") == Wish{});
    }
    for (Wish const wish : {Wish{Wish::Kind::pause, 0},
                            Wish{Wish::Kind::finish, 500},
                            Wish{Wish::Kind::finish, 0},
                            Wish{}}) {
      {
        auto store = open(folder);
        REQUIRE(write_wish(store, operator_id(), "stripes", wish));
      }
      auto const store = open(folder);
      CHECK(*read_wish(store, operator_id(), "stripes") == wish);
      auto const kept = store.task(task.operator_id, "stripes");
      REQUIRE(kept);
      CHECK((*kept)->version == 7);
      CHECK((*kept)->joined);
    }
  }

  TEST_CASE("the epoch to finish at is gone with its task") {
    test::Folder const folder;
    auto store = open(folder);
    store::KnownTask task;
    task.operator_id = to_bytes(operator_id().bytes());
    task.prefix = "stripes";
    REQUIRE(store.put_task(task));
    REQUIRE(write_wish(store, operator_id(), "stripes", {Wish::Kind::finish, 500}));
    REQUIRE(forget_wish(store, operator_id(), "stripes"));
    CHECK(*read_wish(store, operator_id(), "stripes") == Wish{Wish::Kind::finish, 0});
  }

  TEST_CASE("of a task that is not known nothing is kept, and nothing is wrong") {
    test::Folder const folder;
    auto store = open(folder);
    auto const unknown = write_wish(store, operator_id(), "other", {Wish::Kind::pause, 0});
    REQUIRE(!unknown);
    CHECK(unknown.error().code == Errc::not_found);
    CHECK(*read_wish(store, operator_id(), "other") == Wish{});
    CHECK(!*store.task(operator_id().bytes(), "other"));
  }
}
