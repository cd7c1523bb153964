// SPDX-License-Identifier: MIT
#include "core/node/session/kept_failures.hpp"

#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

Tried tried(std::uint64_t task_version = 7, std::string version = "0.1.0") {
  auto const id = *PeerId::from_bytes(to_bytes("\x12\x20 an operator of thirty-four bytes"));
  return {id, "stripes", task_version, std::move(version)};
}

store::Store open(test::Folder const& folder) {
  auto store = store::Store::open(folder.path / "waggle.sqlite3");
  REQUIRE(store);
  return *std::move(store);
}

}  // namespace

TEST_SUITE("kept failures") {
  TEST_CASE("what was counted stands when the store is opened again") {
    test::Folder const folder;
    CHECK(*read_failures(open(folder), tried()) == Failures{});
    for (auto const& failures :
         {Failures{1, ""}, Failures{4, ""}, Failures{5, "the trainer failed: 蜂 …"}, Failures{}}) {
      {
        auto store = open(folder);
        REQUIRE(write_failures(store, tried(), failures));
      }
      CHECK(*read_failures(open(folder), tried()) == failures);
    }
  }

  TEST_CASE("another version of the task, or of the program, is tried anew") {
    test::Folder const folder;
    auto store = open(folder);
    REQUIRE(write_failures(store, tried(), {5, "why"}));
    CHECK(*read_failures(store, tried(8)) == Failures{});
    CHECK(*read_failures(store, tried(7, "0.1.1")) == Failures{});
    CHECK(*read_failures(store, tried()) == Failures{5, "why"});
  }

  TEST_CASE("it is gone with its task") {
    test::Folder const folder;
    auto store = open(folder);
    REQUIRE(write_failures(store, tried(), {3, ""}));
    REQUIRE(forget_failures(store, tried().operator_id, "stripes"));
    CHECK(*read_failures(store, tried()) == Failures{});
  }

  TEST_CASE("what nobody wrote counts for nothing") {
    test::Folder const folder;
    auto store = open(folder);
    auto const key =
        "trainer_failures/" + crypto::to_text(tried().operator_id) + "/" + tried().prefix;
    for (auto const* const text :
         {"", "7", "7 0.1.0 ", "7 0.1.0 -1 ", "7 0.1.0 6 why", "7 0.1.0 99999999999999 why"}) {
      CAPTURE(text);
      REQUIRE(store.put_setting(key, text));
      CHECK(*read_failures(store, tried()) == Failures{});
    }
    REQUIRE(store.put_setting(key, "7 0.1.0 5 " + std::string(5000, 'x')));
    CHECK(read_failures(store, tried())->given_up.size() <= 400);
  }
}
