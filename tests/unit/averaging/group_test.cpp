// SPDX-License-Identifier: MIT
#include "core/averaging/group.hpp"

#include <limits>
#include <set>

#include <doctest/doctest.h>

#include "core/averaging/group_key.hpp"

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::averaging;

TEST_CASE("make_group: refuses groups that cannot be") {
  auto const a = sim::peer(1);
  auto const b = sim::peer(2);
  auto const gather = Gather{}.encode();
  Bytes const id = to_bytes("id");
  CHECK(make_group(id, {a, b}, {gather, gather}, a));
  CHECK_FALSE(make_group(id, {a, b}, {gather}, a));
  CHECK_FALSE(make_group(id, {a}, {gather}, a));
  CHECK_FALSE(make_group(id, {a, a}, {gather, gather}, a));
  CHECK_FALSE(make_group(id, {a, b}, {gather, gather}, sim::peer(3)));
  CHECK_FALSE(make_group(id, {a, b}, {gather, to_bytes("no")}, a));
  CHECK_FALSE(make_group({}, {a, b}, {gather, gather}, a));
}

TEST_CASE(
    "group_fractions: clients reduce nothing whatever they claim, a group of clients is refused") {
  Gather node;
  Gather client;
  client.mode = PeerMode::client;
  client.bandwidth = 1e6;
  auto const group = make_group(
      to_bytes("id"), {sim::peer(1), sim::peer(2)}, {node.encode(), client.encode()}, sim::peer(1));
  auto const fractions = group_fractions(*group, 100);
  REQUIRE(fractions);
  CHECK(*fractions == std::vector<std::uint64_t>{100, 0});
  auto const clients = make_group(to_bytes("id"),
                                  {sim::peer(1), sim::peer(2)},
                                  {client.encode(), client.encode()},
                                  sim::peer(1));
  CHECK_FALSE(group_fractions(*clients, 100));
}

TEST_CASE("Gather::parse: refuses what no averager sends") {
  using wire::Msgpack;
  auto const gather = [](Msgpack bandwidth, Msgpack mode, Msgpack user) {
    return Msgpack(Msgpack::Array{std::move(bandwidth), std::move(mode), std::move(user)}).encode();
  };
  Msgpack const nil;
  auto const user = Msgpack(nil.encode());
  CHECK(Gather::parse(gather(nil, 0, user)));
  CHECK_FALSE(Gather::parse(gather(-1.0, 0, user)));
  CHECK_FALSE(Gather::parse(gather(std::numeric_limits<double>::quiet_NaN(), 0, user)));
  CHECK_FALSE(Gather::parse(gather(std::numeric_limits<double>::infinity(), 0, user)));
  CHECK_FALSE(Gather::parse(gather("fast", 0, user)));
  CHECK_FALSE(Gather::parse(gather(nil, 3, user)));
  CHECK_FALSE(Gather::parse(gather(nil, 0, nil)));
  CHECK_FALSE(Gather::parse(Msgpack(Bytes(kMaxGatherBytes)).encode()));
}

TEST_CASE("parse_group_key: reads what hivemind's pattern reads") {
  CHECK(parse_group_key("run_grad_averager.0b")->bits.empty());
  CHECK(parse_group_key("x.0b0110")->bits == "0110");
  for (auto const* const text : {"", ".0b1", "x", "x.0b2", "x.1", "x.0b1.0b1", "x.y.0b1"})
    CHECK_FALSE(parse_group_key(text));
}

TEST_CASE("next_bits: members of one group get distinct last digits") {
  Bytes id(20);
  for (int round = 0; round < 50; ++round) {
    id[0] = static_cast<std::byte>(round);
    std::set<std::string> bits;
    for (std::size_t p = 0; p < 8; ++p) bits.insert(next_bits("000000", id, 8, p, 8));
    CHECK(bits.size() == 8);
  }
  CHECK(next_bits("", id, 8, 0, std::nullopt).empty());
  CHECK(next_bits("01", id, 5, 0, 4) == "01");
}
