// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/dht/dht.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

namespace waggle::test {

/// A host and the DHT node on it.
struct DhtNode {
  DhtNode(sim::MemoryNetwork& network, std::uint64_t n, dht::Options options)
      : host(network, sim::peer(n)), dht(host, std::move(options)) {}

  sim::MemoryHost host;
  dht::Dht dht;
};

/// Nodes over memory streams in a World. Nodes are numbered from 1; 0 stands for nobody.
class DhtSwarm {
 public:
  explicit DhtSwarm(std::uint64_t seed = 1, sim::Links links = sim::links::lan())
      : world(seed), network(world, std::move(links)) {}

  ~DhtSwarm() { world.run(close_all(*this)); }

  /// Adds a node that has not contacted anybody.
  DhtNode& add(dht::Options options = {}) {
    nodes.push_back(std::make_unique<DhtNode>(network, nodes.size() + 1, std::move(options)));
    return *nodes.back();
  }

  /// Adds `n` nodes that join one after the other by way of the first.
  void grow(std::size_t n, dht::Options const& options = {}) {
    for (std::size_t i = 0; i < n; ++i) {
      dht::Options o = options;
      if (!nodes.empty()) o.initial_peers = {nodes.front()->host.self()};
      auto& node = add(std::move(o));
      world.run(join(node));
    }
  }

  /// Its host is gone at once; the node itself is closed with the swarm.
  void kill(std::size_t i) { nodes[i]->host.kill(true); }

  bool store(std::size_t i, dht::Record record) {
    bool taken = false;
    world.run(do_store(*nodes[i], std::move(record), taken));
    return taken;
  }

  dht::Found get(std::size_t i, dht::Id key, dht::Freshness freshness = dht::Freshness::latest) {
    dht::Found found;
    world.run(do_get(*nodes[i], key, freshness, found));
    return found;
  }

  sim::World world;
  sim::MemoryNetwork network;
  std::vector<std::unique_ptr<DhtNode>> nodes;

 private:
  static Co<void> join(DhtNode& node) {
    TimePoint const deadline = node.host.runtime().now() + std::chrono::seconds(20);
    (void)co_await node.dht.bootstrap(deadline);
  }

  static Co<void> do_store(DhtNode& node, dht::Record record, bool& taken) {
    TimePoint const deadline = node.host.runtime().now() + std::chrono::seconds(20);
    auto const stored = co_await node.dht.store(std::move(record), deadline);
    taken = stored && *stored;
  }

  static Co<void> do_get(DhtNode& node, dht::Id key, dht::Freshness freshness, dht::Found& found) {
    TimePoint const deadline = node.host.runtime().now() + std::chrono::seconds(20);
    auto got = co_await node.dht.get(key, freshness, deadline);
    if (got) found = std::move(*got);
  }

  static Co<void> close_all(DhtSwarm& swarm) {
    for (auto& node : swarm.nodes) co_await node->dht.close();
    for (auto& node : swarm.nodes) co_await node->host.close();
  }
};

}  // namespace waggle::test
