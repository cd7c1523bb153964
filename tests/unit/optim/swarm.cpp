// SPDX-License-Identifier: MIT
#include "tests/unit/optim/swarm.hpp"

#include <map>

#include "core/base/assert.hpp"

namespace waggle::test {

crypto::RecordKey const& record_key(std::size_t n) {
  static std::map<std::size_t, crypto::RecordKey> keys;
  auto const found = keys.find(n);
  if (found != keys.end()) return found->second;
  return keys.emplace(n, crypto::RecordKey::generate()).first->second;
}

OptimSwarm::OptimSwarm(std::uint64_t seed, sim::Links links)
    : world(seed), network(world, std::move(links)) {
  options.run_id = "toy";
  options.target_batch_size = 128;
  options.compression = compress::Policy(compress::CompressionType::none);
  options.state_compression = compress::Policy(compress::CompressionType::none);
}

OptimSwarm::Peer& OptimSwarm::add_bare() {
  auto peer = std::make_unique<Peer>();
  peer->host = std::make_unique<sim::MemoryHost>(network, sim::peer(peers.size() + 1));
  dht::Options o;
  for (auto const& other : peers)
    if (other->host->alive()) o.initial_peers.push_back(other->host->self());
  peer->dht = std::make_unique<dht::Dht>(*peer->host, std::move(o));
  peer->scope = std::make_unique<Scope>(world);
  peers.push_back(std::move(peer));
  world.run(bootstrap(*peers.back()));
  return *peers.back();
}

OptimSwarm::Peer& OptimSwarm::add(ToyModel model) {
  auto& peer = add_bare();
  peer.trainer = std::make_unique<ToyTrainer>(world, std::move(model), 10'000 * peers.size());
  return peer;
}

void OptimSwarm::start(Peer& peer, std::int64_t epoch) {
  std::size_t n = 0;
  while (peers[n].get() != &peer) ++n;
  peer.optimizer = std::make_unique<optim::CollaborativeOptimizer>(
      *peer.host, *peer.dht, compute, record_key(n), *peer.trainer, options);
  peer.optimizer->on_epoch([&peer](optim::EpochReport const& r) { peer.reports.push_back(r); });
  peer.scope->spawn("optimizer", run(peer, epoch));
}

Co<void> OptimSwarm::run(Peer& peer, std::int64_t epoch) {
  std::function<bool(optim::EpochReport const&)> stop = [&peer](optim::EpochReport const& r) {
    return r.epoch >= peer.stop_at;
  };
  auto ended = co_await peer.optimizer->run(epoch, std::move(stop));
  peer.ended = std::move(ended);
}

void OptimSwarm::leave(std::vector<Peer*> const& who) {
  world.run(close_together(who));
}

void OptimSwarm::kill(Peer& peer) {
  peer.host->kill();
  world.run(close(peer));
}

bool OptimSwarm::run_until_epoch(std::vector<Peer*> const& who,
                                 std::int64_t epoch,
                                 Duration limit) {
  auto const end = world.now() + limit;
  auto const there = [&] {
    for (auto* p : who)
      if (!p->optimizer || p->optimizer->status().epoch < epoch) return false;
    return true;
  };
  while (!there() && world.now() < end) run_for(std::chrono::milliseconds(20));
  return there();
}

Co<void> OptimSwarm::bootstrap(Peer& peer) {
  auto const ready = co_await peer.dht->bootstrap(world.now() + std::chrono::seconds(20));
  WAGGLE_ASSERT(ready, ready.has_value());
}

Co<void> OptimSwarm::close(Peer& peer) {
  if (peer.closed) co_return;
  peer.closed = true;
  co_await peer.scope->close();
  if (peer.optimizer) co_await peer.optimizer->close();
  co_await peer.dht->close();
  co_await peer.host->close();
}

Co<void> OptimSwarm::close_together(std::vector<Peer*> who) {
  Scope scope(world);
  for (auto* const peer : who) scope.spawn("leave", close(*peer));
  (void)co_await scope.join();
}

Co<void> OptimSwarm::close_all() {
  for (auto& peer : peers) co_await close(*peer);
}

OptimSwarm::~OptimSwarm() {
  world.run(close_all());
}

}  // namespace waggle::test
