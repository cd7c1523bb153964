// SPDX-License-Identifier: MIT
// A swarm of DHT nodes with real Swarms on loopback, all in one thread, beside bare unary calls
// over the same stack in the same run: what the DHT adds to a call, and how many calls it makes.
// Hops come from the simulator, where the swarm can be larger.
#include "core/dht/dht.hpp"

#include <algorithm>
#include <memory>

#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/dht/messages.hpp"
#include "core/net/address_book.hpp"
#include "core/net/rpc/rpc.hpp"
#include "core/net/swarm.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/bench/bench.hpp"
#include "tests/sim/dht_swarm.hpp"

namespace waggle::bench {
namespace {

constexpr std::size_t kNodes = 16;
constexpr std::size_t kRecords = 1000;
constexpr std::size_t kAtOnce = 32;
constexpr std::size_t kRoundTrips = 2000;
constexpr std::size_t kSimulated = 500;
constexpr std::string_view kEcho = "bench::Echo.rpc_echo";

struct Node {
  explicit Node(Runtime& runtime, crypto::Identity own)
      : identity(std::move(own)), book(runtime), swarm(runtime, identity, book, listening()) {}

  static net::SwarmOptions listening() {
    net::SwarmOptions options;
    options.listen_host = "127.0.0.1";
    return options;
  }

  crypto::Identity identity;
  net::AddressBook book;
  net::Swarm swarm;
  std::unique_ptr<dht::Dht> dht;
};

/// What one kind of question took.
struct Measured {
  double per_second = 0;
  double median_ms = 0;
  double calls = 0;  ///< of the DHT's, a question
};

struct Bench {
  explicit Bench(Runtime& r) : runtime(r) {}

  Runtime& runtime;
  std::vector<std::unique_ptr<Node>> nodes;
  Measured echo_alone, echo_many, ping, find, stores, gets, hits, lookups;
  std::size_t wrong = 0;

  [[nodiscard]] TimePoint soon() const { return runtime.now() + std::chrono::seconds(30); }

  [[nodiscard]] std::uint64_t calls() const {
    std::uint64_t all = 0;
    for (auto const& node : nodes) all += node->dht->counters().calls;
    return all;
  }
};

// Asks `question(i)` for i below `count`, `at_once` at a time.
using Question = std::function<Co<bool>(std::size_t i)>;

struct Asking {
  Question const& question;
  std::size_t count;
  std::size_t next = 0;
  std::size_t wrong = 0;
  std::vector<double> took;
};

Co<void> ask_in_turn(Runtime& runtime, Asking& asking) {
  while (asking.next < asking.count) {
    auto const i = asking.next++;
    TimePoint const begun = runtime.now();
    auto work = asking.question(i);
    bool const right = co_await std::move(work);
    if (!right) ++asking.wrong;
    asking.took.push_back(to_seconds(runtime.now() - begun) * 1e3);
  }
}

Co<Measured> measure(Bench& bench, std::size_t count, std::size_t at_once, Question question) {
  Asking asking{question, count, 0, 0, {}};
  auto const calls = bench.calls();
  TimePoint const begun = bench.runtime.now();
  Scope scope(bench.runtime);
  for (std::size_t i = 0; i < at_once; ++i) scope.spawn("ask", ask_in_turn(bench.runtime, asking));
  (void)co_await scope.join();
  double const seconds = to_seconds(bench.runtime.now() - begun);
  bench.wrong += asking.wrong;
  Measured measured;
  measured.per_second = static_cast<double>(count) / seconds;
  auto const middle = asking.took.begin() + static_cast<std::ptrdiff_t>(asking.took.size() / 2);
  std::nth_element(asking.took.begin(), middle, asking.took.end());
  measured.median_ms = *middle;
  measured.calls = static_cast<double>(bench.calls() - calls) / static_cast<double>(count);
  co_return measured;
}

dht::Id key(std::size_t i) {
  return dht::Id::of_text(cat("record ", i));
}

Bytes value(std::size_t i) {
  return wire::Msgpack(static_cast<std::int64_t>(i)).encode();
}

Co<bool> call(net::Swarm& from, PeerId to, std::string_view name, ByteView request, TimePoint end) {
  auto const answer = co_await net::rpc::call_unary(from, to, name, request, end);
  co_return answer.has_value();
}

Co<bool> store(dht::Dht& dht, std::size_t i, TimePoint end) {
  dht::Record record;
  record.key = key(i);
  record.value = value(i);
  record.expiration = dht.time() + 3600;
  auto const stored = co_await dht.store(std::move(record), end);
  bool const taken = stored && *stored;
  co_return taken;
}

Co<bool> get(dht::Dht& dht, std::size_t i, TimePoint end) {
  auto const found = co_await dht.get(key(i), dht::Freshness::latest, end);
  co_return found && found->regular && found->regular->value == value(i);
}

Co<bool> look_up(dht::Dht& dht, std::size_t i, TimePoint end) {
  auto const found = co_await dht.find_nodes(dht::Id::of_text(cat("anywhere ", i)), end);
  co_return found && !found->empty();
}

Co<Result<Bytes>> echo(Bytes request) {
  co_return request;
}

Co<void> measure_all(Bench& bench) {
  auto& a = bench.nodes[0]->swarm;
  PeerId const b = bench.nodes[1]->swarm.self();
  net::rpc::UnaryHandler answer = [](PeerId, Bytes request) { return echo(std::move(request)); };
  std::vector<net::Registration> serving;
  for (auto& node : bench.nodes)
    serving.push_back(net::rpc::serve_unary(node->swarm, std::string(kEcho), answer));
  dht::FindRequest find;
  find.node = bench.nodes[0]->dht->id();
  find.keys = {key(0)};
  Bytes const find_bytes = find.encode();
  dht::PingRequest ping;
  ping.node = find.node;
  Bytes const ping_bytes = ping.encode();
  // As large as what an answer to find carries, both ways together.
  Bytes const echo_bytes(600, std::byte{1});
  auto const pick = [&bench](std::size_t i) -> dht::Dht& { return *bench.nodes[i % kNodes]->dht; };

  Question const echoes = [&](std::size_t) { return call(a, b, kEcho, echo_bytes, bench.soon()); };
  // From everybody to everybody, as searches go: over one connection calls would share system
  // calls.
  Question const scattered = [&](std::size_t i) {
    auto const from = i % kNodes;
    auto const to = (from + 1 + i / kNodes % (kNodes - 1)) % kNodes;
    return call(
        bench.nodes[from]->swarm, bench.nodes[to]->swarm.self(), kEcho, echo_bytes, bench.soon());
  };
  Question const pings = [&](std::size_t) {
    return call(a, b, "DHTProtocol.rpc_ping", ping_bytes, bench.soon());
  };
  Question const finds = [&](std::size_t) {
    return call(a, b, "DHTProtocol.rpc_find", find_bytes, bench.soon());
  };
  Question const stores = [&](std::size_t i) { return store(pick(i), i, bench.soon()); };
  Question const gets = [&](std::size_t i) { return get(pick(i + 7), i % kRecords, bench.soon()); };
  // Everybody wants the same key at once, as after an epoch.
  Question const hits = [&](std::size_t i) {
    return get(pick(0), (i / kAtOnce) % kRecords, bench.soon());
  };
  Question const lookups = [&](std::size_t i) { return look_up(pick(i), i, bench.soon()); };

  bench.echo_alone = co_await measure(bench, kRoundTrips, 1, echoes);
  bench.ping = co_await measure(bench, kRoundTrips, 1, pings);
  bench.find = co_await measure(bench, kRoundTrips, 1, finds);
  bench.echo_many = co_await measure(bench, 4 * kRoundTrips, kAtOnce, scattered);
  bench.stores = co_await measure(bench, kRecords, kAtOnce, stores);
  bench.gets = co_await measure(bench, kRecords, kAtOnce, gets);
  bench.hits = co_await measure(bench, 4 * kRecords, kAtOnce, hits);
  bench.lookups = co_await measure(bench, kRecords, kAtOnce, lookups);
}

Co<void> run(Bench& bench) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    bench.nodes.push_back(std::make_unique<Node>(bench.runtime, crypto::Identity::generate()));
    auto& node = *bench.nodes.back();
    if (!node.swarm.listen()) ++bench.wrong;
    dht::Options options;
    for (std::size_t j = 0; j < i; ++j) {
      auto& other = bench.nodes[j]->swarm;
      options.initial_peers.push_back(other.self());
      node.swarm.add_addresses(other.self(), other.addresses());
      other.add_addresses(node.swarm.self(), node.swarm.addresses());
    }
    node.dht = std::make_unique<dht::Dht>(node.swarm, std::move(options));
    auto const ready = co_await node.dht->bootstrap(bench.soon());
    if (!ready) ++bench.wrong;
  }
  // Until identify has told everybody what is served.
  (void)co_await bench.runtime.sleep_for(std::chrono::milliseconds(500));
  co_await measure_all(bench);
  for (auto& node : bench.nodes) co_await node->dht->close();
  for (auto& node : bench.nodes) node->dht.reset();
  for (auto& node : bench.nodes) co_await node->swarm.close();
}

sim::DhtSwarm::Load simulate() {
  sim::World world(1);
  sim::MemoryNetwork network(world, sim::links::residential(1));
  sim::DhtSwarm swarm(world, network, kSimulated);
  swarm.start(std::chrono::minutes(1));
  world.run_for(std::chrono::minutes(2));
  world.run(swarm.search(kSimulated, std::chrono::milliseconds(50)));
  auto const load = swarm.load();
  world.run(swarm.stop());
  return load;
}

Row rate(std::string name, Measured const& m, double target, double reference, std::string note) {
  Row row;
  row.name = std::move(name);
  row.value = m.per_second;
  row.unit = "/s";
  row.target = target;
  row.reference = reference;
  row.reference_name = "as many bare calls";
  row.note = cat(static_cast<int>(m.median_ms * 1e3), " us at the median", note);
  return row;
}

Row latency(std::string name, Measured const& m, double target, double reference) {
  Row row;
  row.name = std::move(name);
  row.value = m.median_ms * 1e3;
  row.unit = "us";
  row.target = target;
  row.larger_is_better = false;
  row.reference = reference;
  row.reference_name = "bare unary call";
  return row;
}

}  // namespace

Rows dht() {
  SystemRuntime runtime;
  Bench bench(runtime);
  Scope scope(runtime);
  scope.spawn("bench", run(bench));
  runtime.run_to_completion();

  Rows rows;
  double const alone = bench.echo_alone.median_ms * 1e3;
  double const many = bench.echo_many.per_second;
  rows.push_back({"bare unary call, one at a time", alone, "us", 0, false, 0, "", "600 bytes"});
  rows.push_back({cat("bare unary calls, ", kAtOnce, " at a time, ", kNodes, " peers"),
                  many,
                  "/s",
                  0,
                  true,
                  0,
                  "",
                  ""});
  rows.push_back(latency("dht ping round trip", bench.ping, 1.5 * alone, alone));
  rows.push_back(latency("dht find round trip", bench.find, 2 * alone, alone));
  auto const add = [&](char const* name, Measured const& m, std::string note) {
    double const reference = many / std::max(m.calls, 1.0);
    rows.push_back(rate(cat("dht ", name, ", ", kNodes, " nodes"),
                        m,
                        reference / 2,
                        reference,
                        cat(", ", static_cast<int>(m.calls * 10) / 10.0, " calls each", note)));
  };
  add("stores", bench.stores, "");
  add("gets of the latest value", bench.gets, "");
  add("gets of one key by many at once", bench.hits, "");
  add("lookups", bench.lookups, "");
  if (bench.wrong > 0)
    rows.push_back({"dht questions without the right answer",
                    static_cast<double>(bench.wrong),
                    "",
                    0.5,
                    false,
                    0,
                    "",
                    ""});
  auto const load = simulate();
  rows.push_back({cat("dht hops a search, ", kSimulated, " simulated nodes"),
                  load.hops,
                  "",
                  6,
                  false,
                  0,
                  "",
                  cat(static_cast<int>(load.calls), " calls a search")});
  return rows;
}

}  // namespace waggle::bench
