// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/compute.hpp"
#include "core/base/scope.hpp"
#include "core/dht/dht.hpp"
#include "core/optim/collaborative_optimizer.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"
#include "tests/unit/optim/toy_trainer.hpp"

namespace waggle::test {

/// Two programs hold the scenarios of whole swarms: sim_optim, a release build, runs each in all
/// its variants and at its whole length; unit_optim, which runs ten times slower under the
/// sanitizers, takes as many as walk every path.
#ifdef WAGGLE_WHOLE_SCENARIOS
inline constexpr bool kWhole = true;
#else
inline constexpr bool kWhole = false;
#endif

/// All of them in sim_optim, the first `n` in unit_optim.
template <class T>
std::vector<T> variants(std::size_t n, std::initializer_list<T> all) {
  auto const* const end = kWhole || n > all.size() ? all.end() : all.begin() + n;
  return std::vector<T>(all.begin(), end);
}

/// RSA keys are slow to make; tests share a few, each made when it is first asked for.
crypto::RecordKey const& record_key(std::size_t n);

/// Optimizers over MemoryHosts, a real DHT and real averagers, on a virtual clock.
struct OptimSwarm {
  struct Peer {
    std::unique_ptr<sim::MemoryHost> host;
    std::unique_ptr<dht::Dht> dht;
    std::unique_ptr<ToyTrainer> trainer;
    std::unique_ptr<optim::CollaborativeOptimizer> optimizer;
    std::unique_ptr<Scope> scope;
    std::vector<optim::EpochReport> reports;
    std::optional<Status> ended;
    std::int64_t stop_at = 1'000'000;
    bool closed = false;
  };

  explicit OptimSwarm(std::uint64_t seed = 1, sim::Links links = sim::links::lan());
  ~OptimSwarm();

  /// A peer with host, DHT (bootstrapped) and trainer; the optimizer comes with start().
  Peer& add(ToyModel model);
  /// A liar's place: host and DHT only.
  Peer& add_bare();
  void start(Peer& peer, std::int64_t epoch = 0);
  /// They take their leave at the same time, when their optimizers have ended.
  void leave(std::vector<Peer*> const& who);
  /// The machine dies.
  void kill(Peer& peer);
  /// Runs until each of `who` has ended `epochs` or `limit` has passed; whether they have.
  bool run_until_epoch(std::vector<Peer*> const& who, std::int64_t epoch, Duration limit);

  void run_for(Duration d) { world.run_until(world.now() + d); }

  sim::World world;
  sim::MemoryNetwork network;
  InlineExecutor compute;
  optim::OptimizerOptions options;
  std::vector<std::unique_ptr<Peer>> peers;

 private:
  Co<void> bootstrap(Peer& peer);
  Co<void> run(Peer& peer, std::int64_t epoch);
  Co<void> close_all();
  Co<void> close_together(std::vector<Peer*> who);
  Co<void> close(Peer& peer);
};

}  // namespace waggle::test
