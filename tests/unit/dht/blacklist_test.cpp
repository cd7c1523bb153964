// SPDX-License-Identifier: MIT
#include "core/dht/blacklist.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using dht::Blacklist;

namespace {

PeerId peer(int n) {
  return *PeerId::from_bytes(as_bytes(cat("peer ", n)));
}

}  // namespace

TEST_CASE("failures during a ban do not lengthen it") {
  Blacklist list;
  TimePoint const t{};
  list.failed(peer(1), t);
  list.failed(peer(1), t + 1s);
  list.failed(peer(1), t + 4s);
  CHECK(list.contains(peer(1), t + 4s));
  CHECK_FALSE(list.contains(peer(1), t + 5s));
  CHECK_FALSE(list.contains(peer(2), t));
}

TEST_CASE("a success clears the record, and no ban outlasts an hour") {
  Blacklist list;
  TimePoint t{};
  for (int i = 0; i < 40; ++i) {
    list.failed(peer(1), t);
    CHECK(list.contains(peer(1), t));
    t += Blacklist::kMaxBan;
    CHECK_FALSE(list.contains(peer(1), t));
  }
  list.succeeded(peer(1));
  list.failed(peer(1), t);
  CHECK_FALSE(list.contains(peer(1), t + 5s));
}

TEST_CASE("the list is bounded") {
  Blacklist list;
  for (int i = 0; i < 5000; ++i) list.failed(peer(i), TimePoint{} + std::chrono::milliseconds(i));
  CHECK(list.size() == Blacklist::kMaxPeers);
  CHECK(list.contains(peer(4999), TimePoint{} + 5s));
}
