// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "core/averaging/averager.hpp"
#include "core/base/assert.hpp"
#include "core/base/compute.hpp"
#include "core/base/text.hpp"
#include "core/dht/dht.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

namespace waggle::test {

/// A swarm of averagers over MemoryHosts and a real DHT, on a virtual clock.
struct Swarm {
  struct Peer {
    std::unique_ptr<sim::MemoryHost> host;
    std::unique_ptr<dht::Dht> dht;
    std::unique_ptr<averaging::Averager> averager;
    std::vector<float> values;
    double weight = 1;
    std::optional<Result<averaging::RoundReport>> outcome;
    Duration took{};
    Duration formed{};
  };

  explicit Swarm(std::uint64_t seed = 1, sim::Links links = sim::links::lan())
      : world(seed),
        network(world, std::move(links)),
        prefix(cat("run", ++count(), "_grad_averager")) {}

  static int& count() {
    static int runs = 0;
    return runs;
  }

  sim::World world;
  sim::MemoryNetwork network;
  InlineExecutor compute;
  std::string prefix;
  std::vector<std::unique_ptr<Peer>> peers;

  [[nodiscard]] averaging::AveragerOptions options(averaging::Schema schema) const {
    averaging::AveragerOptions o;
    o.prefix = prefix;
    o.class_name = "GradientAverager";
    o.schema = std::move(schema);
    o.min_matchmaking_time = std::chrono::seconds(5);
    o.request_timeout = std::chrono::seconds(3);
    o.sender_timeout = std::chrono::seconds(5);
    o.reducer_timeout = std::chrono::seconds(10);
    return o;
  }

  /// Host and DHT; the averager comes with make().
  Peer& add_peer() {
    auto peer = std::make_unique<Peer>();
    peer->host = std::make_unique<sim::MemoryHost>(network, sim::peer(peers.size() + 1));
    dht::Options o;
    for (auto const& other : peers) o.initial_peers.push_back(other->host->self());
    peer->dht = std::make_unique<dht::Dht>(*peer->host, std::move(o));
    peers.push_back(std::move(peer));
    world.run(bootstrap(*peers.back()));
    return *peers.back();
  }

  /// Bootstrapping `count` peers with averagers that expect all the others.
  void add(std::size_t count, averaging::AveragerOptions const& base, bool expect_all = true) {
    for (std::size_t i = 0; i < count; ++i) add_peer();
    for (auto& peer : peers) {
      if (peer->averager) continue;
      auto o = base;
      if (expect_all && !o.expected) {
        o.expected = [this, self = peer.get()] {
          averaging::Expected expected;
          for (auto const& other : peers)
            if (other.get() != self && other->averager)
              expected.peers.push_back(other->host->self());
          return expected;
        };
      }
      peer->averager =
          std::make_unique<averaging::Averager>(*peer->host, *peer->dht, compute, std::move(o));
    }
  }

  Co<void> bootstrap(Peer& peer) {
    auto const ready = co_await peer.dht->bootstrap(world.now() + std::chrono::seconds(20));
    WAGGLE_ASSERT(ready, ready.has_value());
  }

  /// One round of peer `i` after `delay`.
  Co<void> round(std::size_t i, Duration delay, Duration limit) {
    Peer& peer = *peers[i];
    auto const slept = co_await world.sleep_for(delay);
    if (!slept) co_return;
    auto const began = world.now();
    averaging::StepOptions step;
    step.weight = peer.weight;
    step.user = wire::Msgpack(static_cast<std::int64_t>(i));
    auto const deadline = began + limit;
    auto round = peer.averager->begin(std::move(step), deadline);
    auto const formed = co_await round->assembled(deadline);
    peer.formed = world.now() - began;
    if (formed) {
      auto outcome = co_await round->run(peer.values, peer.weight, deadline);
      peer.outcome.emplace(std::move(outcome));
    } else {
      peer.outcome.emplace(formed.error());
    }
    peer.took = world.now() - began;
  }

  /// Rounds of all living peers, `stagger` apart.
  void run_round(Duration stagger = {}, Duration limit = std::chrono::seconds(60)) {
    world.run(rounds(stagger, limit));
  }

  Co<void> rounds(Duration stagger, Duration limit) {
    Scope scope(world);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      peers[i]->outcome.reset();
      if (peers[i]->host->alive() && peers[i]->averager)
        scope.spawn("round", round(i, stagger * static_cast<int>(i), limit));
    }
    (void)co_await scope.join();
  }

  Co<void> close() {
    for (auto& peer : peers)
      if (peer->averager) co_await peer->averager->close();
    for (auto& peer : peers) co_await peer->dht->close();
    for (auto& peer : peers) co_await peer->host->close();
  }

  ~Swarm() { world.run(close()); }
};

}  // namespace waggle::test
