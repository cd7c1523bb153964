// SPDX-License-Identifier: MIT
// The same rounds on a real clock with real threads, for the sanitizers.
#include <cmath>

#include <doctest/doctest.h>

#include "core/averaging/averager.hpp"
#include "core/base/scope.hpp"
#include "core/dht/dht.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/support/run.hpp"

using namespace waggle;
using namespace waggle::averaging;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kPeers = 4;
constexpr std::size_t kValues = 300'000;

struct Peer {
  Peer(sim::MemoryNetwork& network, std::uint64_t n, dht::Options const& options)
      : host(network, sim::peer(n)), dht(host, options), values(kValues, static_cast<float>(n)) {}

  sim::MemoryHost host;
  dht::Dht dht;
  std::unique_ptr<Averager> averager;
  std::vector<float> values;
};

Co<void> one_round(Peer& peer, TimePoint deadline) {
  StepOptions step;
  step.weight = 2;
  auto const report = co_await peer.averager->step(peer.values, std::move(step), deadline);
  REQUIRE_MESSAGE(report, (report ? "" : report.error().detail));
  CHECK(report->group.size() == kPeers);
  CHECK(report->fraction_averaged == 1.0);
  for (auto const v : peer.values) {
    if (std::abs(v - 2.5F) > 0.01F) {
      CHECK(v == doctest::Approx(2.5));
      break;
    }
  }
}

Co<void> scenario(SystemRuntime& runtime, std::vector<std::unique_ptr<Peer>>& peers) {
  for (auto& peer : peers) {
    auto const ready = co_await peer->dht.bootstrap(runtime.now() + 10s);
    REQUIRE(ready);
  }
  for (int round = 0; round < 3; ++round) {
    Scope scope(runtime);
    for (auto& peer : peers) scope.spawn("round", one_round(*peer, runtime.now() + 30s));
    (void)co_await scope.join();
    for (std::size_t p = 0; p < peers.size(); ++p)
      std::fill(peers[p]->values.begin(), peers[p]->values.end(), static_cast<float>(p + 1));
  }
  for (auto& peer : peers) co_await peer->averager->close();
  for (auto& peer : peers) co_await peer->dht.close();
  for (auto& peer : peers) co_await peer->host.close();
}

}  // namespace

TEST_CASE("Averager: rounds with a pool of threads come to the mean, time after time") {
  SystemRuntime runtime;
  ThreadPool compute("compute", 3);
  sim::MemoryNetwork network(runtime);
  std::vector<std::unique_ptr<Peer>> peers;
  dht::Options dht_options;
  for (std::size_t i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<Peer>(network, i + 1, dht_options));
    dht_options.initial_peers.push_back(peers.back()->host.self());
  }
  for (auto& peer : peers) {
    AveragerOptions options;
    options.prefix = "threads_grad_averager";
    options.class_name = "GradientAverager";
    options.schema = {{{kValues}, false}};
    options.compression = compress::Policy(compress::CompressionType::float16);
    options.part_bytes = 1u << 14;
    options.expected = [&peers, self = peer.get()] {
      Expected expected;
      for (auto const& other : peers)
        if (other.get() != self) expected.peers.push_back(other->host.self());
      return expected;
    };
    peer->averager = std::make_unique<Averager>(peer->host, peer->dht, compute, std::move(options));
  }
  test::run(runtime, scenario(runtime, peers));
}
