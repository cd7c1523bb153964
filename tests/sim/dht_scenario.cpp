// SPDX-License-Identifier: MIT
// A swarm of DHT nodes from birth to old age: all join by one node they know, search, store and
// find in quiet, then under churn, then with faults on the wire. An outside checker says what each
// search should have found.
//
//     sim_dht                          what CI runs: the seeds that once failed, then 1,000 nodes
//     twice sim_dht --nodes 10000 --seed 7   one run; the nightly one sim_dht --nodes 1000 --twice
//     runs it twice and compares the trace hashes sim_dht --seeds FILE             replays the runs
//     of a file: one "nodes seed" a line, # comments
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "core/base/text.hpp"

#include "tests/sim/dht_swarm.hpp"

using namespace waggle;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kDefaultNodes = WAGGLE_SIM_NODES;

struct Run {
  std::size_t nodes = kDefaultNodes;
  std::uint64_t seed = 1;
};

struct Outcome {
  std::uint64_t hash = 0;
  bool passed = true;
};

constexpr std::size_t kFewestSearches = 200;
constexpr std::size_t kMostSearches = 4000;  // one miss in a thousand shows; more only takes longer
constexpr double kQuietShare = 0.999;
constexpr double kChurnShare = 0.99;
// A call is two writes, each of which fails in 2 of 100 cases or comes too late in another half of
// one, and a search asks each node once: the nearest is missed in 5 of 100 searches, and some
// hundred searches spread around that.
constexpr double kFaultShare = 0.85;

double percent(sim::Score const& score) {
  return 100 * score.share();
}

void print(char const* phase, sim::DhtSwarm const& swarm, sim::DhtSwarm::Scores const& s) {
  std::printf(
      "  %-7s live %zu  nearest %.2f%% (%llu)  nearest five %.2f%%  stored %.2f%% (%llu)  found "
      "%.2f%%\n",
      phase,
      swarm.live(),
      percent(s.nearest),
      static_cast<unsigned long long>(s.nearest.asked),
      percent(s.nearest_five),
      percent(s.stored),
      static_cast<unsigned long long>(s.stored.asked),
      percent(s.found));
  std::fflush(stdout);
}

/// Of the whole run so far.
void print(sim::DhtSwarm::Load const& load) {
  std::printf(
      "  hops %.2f  calls a search %.1f  served a node: median %.0f, p99 %.0f, max %.0f  table "
      "%.0f  joins %llu (%llu "
      "failed)  malformed %llu\n",
      load.hops,
      load.calls,
      load.served_median,
      load.served_p99,
      load.served_max,
      load.table_median,
      static_cast<unsigned long long>(load.joins),
      static_cast<unsigned long long>(load.failed_joins),
      static_cast<unsigned long long>(load.malformed));
  std::fflush(stdout);
}

bool demand(bool fulfilled, char const* what, Run const& run) {
  if (!fulfilled)
    std::printf("  FAILED: %s (reproduce: sim_dht --nodes %zu --seed %llu)\n",
                what,
                run.nodes,
                static_cast<unsigned long long>(run.seed));
  return fulfilled;
}

// Enough questions that one miss in a thousand shows, spread so that they do not crowd each other.
Co<void> ask(sim::DhtSwarm& swarm, std::size_t searches, std::size_t records, Duration span) {
  co_await swarm.search(searches, span / static_cast<std::int64_t>(searches));
  co_await swarm.store(records, span / static_cast<std::int64_t>(4 * records), 2h);
  co_await swarm.find(span / static_cast<std::int64_t>(4 * records));
}

Outcome run_once(Run const& run) {
  auto const wall_start = std::chrono::steady_clock::now();
  sim::World world(run.seed);
  sim::MemoryNetwork network(world, sim::links::residential(run.seed));
  std::uint64_t streams = 0;
  network.on_open = [&](PeerId const& from, PeerId const& to, std::string_view protocol) {
    ++streams;
    world.trace(from.bytes());
    world.trace(to.bytes());
    world.trace(as_bytes(protocol));
  };
  sim::DhtSwarm swarm(world, network, run.nodes);
  std::size_t const searches = std::clamp(run.nodes, kFewestSearches, kMostSearches);
  std::size_t const records = std::max<std::size_t>(run.nodes / 10, 50);
  Outcome outcome;
  auto const check = [&](bool fulfilled, char const* what) {
    outcome.passed = demand(fulfilled, what, run) && outcome.passed;
  };

  swarm.start(3min);
  world.run_for(5min);
  world.run(ask(swarm, searches, records, 2min));
  auto const quiet = swarm.take_scores();
  print("quiet", swarm, quiet);
  print(swarm.load());
  check(swarm.live() == run.nodes, "everybody joins");
  check(quiet.nearest.share() >= kQuietShare, "quiet: searches find the nearest node");
  check(quiet.nearest_five.share() >= kQuietShare, "quiet: searches find the nearest five");
  check(quiet.stored.share() >= kQuietShare, "quiet: records are stored");
  check(quiet.found.share() >= kQuietShare, "quiet: records are found");

  swarm.begin_churn(sim::Churn(3600, 600));
  world.run_for(3min);
  world.run(ask(swarm, searches, records, 3min));
  auto const churn = swarm.take_scores();
  print("churn", swarm, churn);
  print(swarm.load());
  check(churn.nearest.share() >= kChurnShare, "churn: searches find the nearest node");
  check(churn.stored.share() >= kChurnShare, "churn: records are stored");
  check(churn.found.share() >= kChurnShare, "churn: records are found");

  network.faults = {
      .drop = 0.005, .truncate = 0.005, .corrupt = 0.005, .duplicate = 0.005, .delay = 0.01};
  world.run(ask(swarm, searches / 2, records, 2min));
  network.faults = {};
  auto const faults = swarm.take_scores();
  print("faults", swarm, faults);
  check(faults.nearest.share() >= kFaultShare, "faults: searches find the nearest node");
  check(faults.found.share() >= kChurnShare, "faults: records are found");

  print(swarm.load());
  world.run(swarm.stop());
  outcome.hash = world.trace_hash();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - wall_start;
  std::printf("  %.1f s wall, %llu streams, %llu events, %ld MiB, trace %016llx\n",
              wall.count(),
              static_cast<unsigned long long>(streams),
              static_cast<unsigned long long>(world.events()),
              usage.ru_maxrss / 1024,
              static_cast<unsigned long long>(outcome.hash));
  return outcome;
}

struct Tally {
  int passed = 0;
  int failed = 0;
};

Tally run_all(std::vector<Run> const& runs, bool twice) {
  Tally tally;
  for (auto const& run : runs) {
    std::printf(
        "dht: %zu nodes, seed %llu\n", run.nodes, static_cast<unsigned long long>(run.seed));
    auto const first = run_once(run);
    bool passed = first.passed;
    if (twice) {
      bool const same = run_once(run).hash == first.hash;
      passed = demand(same, "the same seed gives the same trace", run) && passed;
    }
    ++(passed ? tally.passed : tally.failed);
  }
  return tally;
}

std::vector<Run> read_seeds(char const* path) {
  std::vector<Run> runs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    Run run;
    if (words >> run.nodes >> run.seed) runs.push_back(run);
  }
  return runs;
}

// Coroutine frames come and go by the thousand: a larger cache of malloc's saves a sixth of the
// time.
void with_larger_cache(char** argv) {
  if (std::getenv("GLIBC_TUNABLES") != nullptr) return;
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=2000", 1);
  execv("/proc/self/exe", argv);
}

int report(Tally const& tally) {
  std::printf("%d passed, %d failed, 0 skipped\n", tally.passed, tally.failed);
  return tally.failed == 0 && tally.passed > 0 ? 0 : 1;
}

int run_default() {
  char const* const source = std::getenv("WAGGLE_SOURCE_DIR");
  auto const seeds = read_seeds(cat(source ? source : ".", "/tests/sim/seeds/dht.txt").c_str());
  if (seeds.empty()) return std::fprintf(stderr, "no seeds; is WAGGLE_SOURCE_DIR set?\n"), 2;
  auto tally = run_all(seeds, false);
  auto const twice = run_all({Run{kDefaultNodes, 1}}, true);
  tally.passed += twice.passed;
  tally.failed += twice.failed;
  return report(tally);
}

}  // namespace

int main(int argc, char** argv) {
  with_larger_cache(argv);
  if (argc == 1) return run_default();
  Run run;
  bool twice = false;
  std::vector<Run> runs;
  for (int i = 1; i < argc; ++i) {
    std::string_view const flag = argv[i];
    bool const valued = i + 1 < argc;
    if (flag == "--nodes" && valued) {
      run.nodes = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--seed" && valued) {
      run.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--twice") {
      twice = true;
    } else if (flag == "--seeds" && valued) {
      runs = read_seeds(argv[++i]);
      if (runs.empty()) return std::fprintf(stderr, "no runs in %s\n", argv[i]), 2;
    } else {
      std::fprintf(stderr, "usage: sim_dht [--nodes N] [--seed S] [--twice] [--seeds FILE]\n");
      return 2;
    }
  }
  if (runs.empty()) runs.push_back(run);
  return report(run_all(runs, twice));
}
