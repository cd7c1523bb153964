// SPDX-License-Identifier: MIT
#include "core/node/session/volunteers.hpp"

#include <string>

#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

PeerId peer(int n) {
  std::string const text = "peer" + std::to_string(n);
  return *PeerId::from_bytes(as_bytes(text));
}

optim::Standing standing(PeerId const& peer, double rate, bool believed) {
  optim::Standing s;
  s.peer = peer;
  s.samples_per_second = rate;
  s.samples = 64;
  s.time = 100;
  s.connected = true;
  s.believed = believed;
  if (!believed) s.reason = "is named by a second key";
  return s;
}

TEST_CASE("volunteers: a lie that names an honest peer takes neither its row nor its figures") {
  auto const honest = peer(1);
  auto const lie = standing(honest, 1e9, false);
  auto const truth = standing(honest, 12, true);
  for (auto const& order : {std::vector{lie, truth}, std::vector{truth, lie}}) {
    auto const rows = volunteers(order, 103);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].id == crypto::to_text(honest));
    CHECK(rows[0].samples_per_second == 12);
    CHECK(rows[0].samples == 64);
    CHECK(rows[0].age == 3);
    CHECK(rows[0].reason.empty());
  }
}

TEST_CASE("volunteers: who is not believed has a reason and no figures") {
  auto const rows = volunteers(std::vector{standing(peer(2), 1e9, false)}, 103);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].samples_per_second == 0);
  CHECK(rows[0].samples == 0);
  CHECK(rows[0].reason == "is named by a second key");
}

TEST_CASE("volunteers: claims beyond all reason are cut") {
  auto huge = standing(peer(3), 1e308, true);
  huge.samples = 1e300;
  huge.time = -1e308;
  auto const rows = volunteers(std::vector{huge}, 103);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].samples_per_second == 1e15);
  CHECK(rows[0].samples == 1'000'000'000'000'000);
  CHECK(rows[0].age == 1e15);
  huge.time = 1e308;
  CHECK(volunteers(std::vector{huge}, 103)[0].age == 0);
}

}  // namespace
}  // namespace waggle::node
