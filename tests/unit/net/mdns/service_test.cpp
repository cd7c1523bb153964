// SPDX-License-Identifier: MIT
#include "core/net/mdns/service.hpp"

#include <map>
#include <optional>

#include <doctest/doctest.h>

#include "core/net/address_book.hpp"
#include "core/net/swarm.hpp"

#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

struct Peer {
  explicit Peer(Runtime& runtime)
      : book(runtime), identity(crypto::Identity::generate()), found_signal(runtime) {
    SwarmOptions options;
    options.listen_host = "127.0.0.1";
    swarm.emplace(runtime, identity, book, options);
    service.emplace(*swarm, true, [this](mdns::FoundPeer const& peer) {
      found[peer.id] = peer.addresses;
      found_signal.notify_all();
    });
  }

  AddressBook book;
  crypto::Identity identity;
  std::optional<Swarm> swarm;
  Signal found_signal;
  std::map<PeerId, std::vector<wire::Multiaddr>> found;
  std::optional<mdns::Service> service;
};

Co<void> meet(Runtime& runtime) {
  Peer a(runtime);
  Peer b(runtime);
  REQUIRE(a.swarm->listen());
  REQUIRE(b.swarm->listen());
  bool const opened = a.service->open() && b.service->open();
  auto const deadline = runtime.now() + seconds(10);
  for (auto* const one : {&a, &b}) {
    auto const& other = one == &a ? b : a;
    while (opened && !one->found.contains(other.swarm->self()) && runtime.now() < deadline)
      (void)co_await one->found_signal.wait(deadline);
    auto const found = one->found.find(other.swarm->self());
    // A sandbox may have no multicast; the integration tests have a network of their own.
    if (!opened || found == one->found.end()) {
      MESSAGE("no multicast on the loopback here: not tried");
      break;
    }
    CHECK(found->second == other.swarm->addresses());
    CHECK_FALSE(one->found.contains(one->swarm->self()));
  }
  co_await a.service->close();
  co_await b.service->close();
  co_await a.swarm->close();
  co_await b.swarm->close();
}

}  // namespace

TEST_CASE("mDNS: two programs of one machine find each other, and not themselves") {
  SystemRuntime runtime;
  test::run(runtime, meet(runtime));
}
