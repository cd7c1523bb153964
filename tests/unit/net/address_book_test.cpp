// SPDX-License-Identifier: MIT
#include "core/net/address_book.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

using namespace waggle;
using namespace std::chrono_literals;

namespace {

wire::Multiaddr address(std::uint16_t port) {
  return *wire::Multiaddr::tcp("10.0.0.1", port);
}

std::vector<wire::Multiaddr> list(std::initializer_list<int> ports) {
  std::vector<wire::Multiaddr> out;
  for (int const port : ports) out.push_back(address(static_cast<std::uint16_t>(port)));
  return out;
}

}  // namespace

TEST_CASE("addresses expire, and a later expiry is not shortened by an earlier one") {
  sim::World world(1);
  net::AddressBook book(world);
  auto const peer = sim::peer(1);
  book.add(peer, list({1}), 30min);
  book.add(peer, list({1, 2}), 2min);
  CHECK(book.addresses(peer) == list({1, 2}));
  world.run_for(2min);
  CHECK(book.addresses(peer) == list({1}));
  world.run_for(28min);
  CHECK(book.addresses(peer).empty());
  CHECK(book.all().empty());
  book.add(peer, list({3}), Duration::max());
  world.run_for(24h * 365);
  CHECK(book.addresses(peer) == list({3}));
}

TEST_CASE("the freshest come first, and what failed comes last until it works again") {
  sim::World world(1);
  net::AddressBook book(world);
  auto const peer = sim::peer(1);
  book.add(peer, list({1}), 1min);
  book.add(peer, list({2}), 3min);
  book.add(peer, list({3}), 2min);
  CHECK(book.addresses(peer) == list({2, 3, 1}));
  book.failed(peer, address(2));
  CHECK(book.addresses(peer) == list({3, 1, 2}));
  book.failed(peer, address(3));
  book.failed(peer, address(3));
  CHECK(book.addresses(peer) == list({1, 2, 3}));
  book.succeeded(peer, address(3));
  CHECK(book.addresses(peer) == list({3, 1, 2}));
  book.failed(peer, address(99));
  book.failed(sim::peer(2), address(1));
  CHECK(book.size() == 1);
}

TEST_CASE("a trailing peer id makes no second address") {
  sim::World world(1);
  net::AddressBook book(world);
  auto const peer = sim::peer(1);
  std::vector<wire::Multiaddr> const both{address(1), address(1).with_peer_id(peer)};
  book.add(peer, both, 1min);
  CHECK(book.addresses(peer) == list({1}));
}

TEST_CASE("one peer holds sixteen addresses, those longest valid") {
  sim::World world(1);
  net::AddressBook book(world);
  auto const peer = sim::peer(1);
  for (int i = 0; i < 100; ++i) book.add(peer, list({1000 + i}), 1min + i * 1s);
  auto const kept = book.addresses(peer);
  REQUIRE(kept.size() == net::AddressBook::kMaxAddresses);
  CHECK(kept.front() == address(1099));
  CHECK(kept.back() == address(1084));
}

TEST_CASE("a flood of names does not push out those we have met") {
  sim::World world(1);
  net::AddressBook book(world);
  auto const friends = 100u;
  for (std::uint64_t i = 0; i < friends; ++i) book.add(sim::peer(i), list({1}), 30min);
  for (std::uint64_t i = 0; i < 30'000; ++i) book.add(sim::peer(1000 + i), list({1}), 2min);
  CHECK(book.size() <= net::AddressBook::kMaxPeers);
  for (std::uint64_t i = 0; i < friends; ++i) CHECK(book.addresses(sim::peer(i)).size() == 1);
}
