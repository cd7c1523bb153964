// SPDX-License-Identifier: MIT
#include "core/optim/agreed_epoch.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using optim::agreed_epoch;

namespace {

std::vector<wire::Msgpack> gathered(std::vector<std::int64_t> const& epochs) {
  std::vector<wire::Msgpack> users;
  for (auto const epoch : epochs) {
    wire::Msgpack::Map map;
    map.emplace_back("waggle", 1);
    map.emplace_back("epoch", epoch);
    users.emplace_back(std::move(map));
  }
  return users;
}

}  // namespace

TEST_SUITE("agreed_epoch") {
  TEST_CASE("peers that came one epoch apart go on together") {
    // One ahead of three: it holds, the others go on as they would have.
    CHECK(agreed_epoch(gathered({9, 9, 9, 10}), 9) == 9);
    CHECK(agreed_epoch(gathered({9, 9, 9, 10}), 10) == 9);
    // One behind three: it skips one.
    CHECK(agreed_epoch(gathered({10, 10, 9, 10}), 9) == 10);
    CHECK(agreed_epoch(gathered({10, 10, 9, 10}), 10) == 10);
    // Of two the one ahead holds.
    CHECK(agreed_epoch(gathered({3, 4}), 3) == 3);
    CHECK(agreed_epoch(gathered({3, 4}), 4) == 3);
  }

  TEST_CASE("a liar, or a group of liars, moves nobody by more than one") {
    CHECK(agreed_epoch(gathered({9, 9, 9, 1'000'000'000}), 9) == 9);
    CHECK(agreed_epoch(gathered({9, 1'000'000'000, 1'000'000'000}), 9) == 10);
    CHECK(agreed_epoch(gathered({9, -5, -5}), 9) == 9);
  }

  TEST_CASE("peers that do not say leave everyone to himself") {
    CHECK(agreed_epoch({}, 7) == 7);
    CHECK(agreed_epoch(std::vector<wire::Msgpack>(3), 7) == 7);
    auto mixed = gathered({8});
    mixed.resize(3);
    CHECK(agreed_epoch(mixed, 7) == 7);
  }
}
