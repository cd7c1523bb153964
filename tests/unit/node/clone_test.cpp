// SPDX-License-Identifier: MIT
#include "core/node/clone.hpp"

#include <doctest/doctest.h>

#include "core/crypto/keys.hpp"
#include "core/net/address_book.hpp"
#include "core/net/kad/service.hpp"
#include "core/net/swarm.hpp"

#include "tests/support/run.hpp"

using namespace waggle;

namespace {

/// A listening peer that answers Kad, as a node is one.
struct Peer {
  Peer(Runtime& runtime, crypto::Identity const& identity, std::uint16_t port = 0)
      : book(runtime), swarm(runtime, identity, book, options(port)), kad(swarm, book) {
    swarm.on_identified([this](auto const& peer, auto const& protocols, auto const& addresses) {
      kad.identified(peer, protocols, addresses);
    });
    REQUIRE(swarm.listen());
  }

  static net::SwarmOptions options(std::uint16_t port) {
    net::SwarmOptions options;
    options.listen_host = "127.0.0.1";
    options.listen_port = port;
    return options;
  }

  [[nodiscard]] wire::Multiaddr address() const {
    return swarm.addresses().front().with_peer_id(swarm.self());
  }

  Co<void> close() {
    co_await kad.close();
    co_await swarm.close();
  }

  net::AddressBook book;
  net::Swarm swarm;
  net::kad::Service kad;
};

constexpr Duration kPatience = std::chrono::seconds(3);

}  // namespace

TEST_SUITE("clone") {
  TEST_CASE("one that runs is found where we listened last, and through a seed that knows it") {
    SystemRuntime runtime;
    auto const ours = crypto::Identity::generate();
    auto const seeds = crypto::Identity::generate();
    auto body = [](Runtime& rt, crypto::Identity const& us, crypto::Identity const& s) -> Co<void> {
      Peer seed(rt, s);
      std::vector<wire::Multiaddr> const seed_addresses{seed.address()};
      {
        Peer original(rt, us);
        auto const own = original.address();
        std::vector<wire::Multiaddr> const owns{own};
        std::vector<wire::Multiaddr> const nobody;
        auto found = co_await node::find_clone(rt, us.peer_id(), owns, nobody, kPatience);
        CHECK(found.has_value());
        auto const met = co_await original.swarm.dial(seed.address(), rt.now() + kPatience);
        REQUIRE(met);
        for (int i = 0; i < 100 && seed.book.addresses(us.peer_id()).empty(); ++i)
          (void)co_await rt.sleep_for(std::chrono::milliseconds(20));
        found = co_await node::find_clone(rt, us.peer_id(), nobody, seed_addresses, kPatience);
        CHECK(found.has_value());
        co_await original.close();
      }
      // Dead now, but its address is still in the seed's book: it is no clone.
      std::vector<wire::Multiaddr> const nobody;
      CHECK(!seed.book.addresses(us.peer_id()).empty());
      auto found = co_await node::find_clone(rt, us.peer_id(), nobody, seed_addresses, kPatience);
      CHECK(!found);
      co_await seed.close();
    };
    test::run(runtime, body(runtime, ours, seeds));
  }

  TEST_CASE("somebody else at our old address, and nobody anywhere, are no clones") {
    SystemRuntime runtime;
    auto const ours = crypto::Identity::generate();
    auto const others = crypto::Identity::generate();
    auto body = [](Runtime& rt, crypto::Identity const& us, crypto::Identity const& o) -> Co<void> {
      Peer other(rt, o);
      auto const old = other.swarm.addresses().front().with_peer_id(us.peer_id());
      std::vector<wire::Multiaddr> const own{old};
      std::vector<wire::Multiaddr> const nobody;
      auto found = co_await node::find_clone(rt, us.peer_id(), own, nobody, kPatience);
      CHECK(!found);
      auto const began = rt.now();
      found = co_await node::find_clone(rt, us.peer_id(), nobody, nobody, kPatience);
      CHECK(!found);
      CHECK(rt.now() - began < std::chrono::seconds(1));
      co_await other.close();
    };
    test::run(runtime, body(runtime, ours, others));
  }
}
