// SPDX-License-Identifier: MIT
// Rounds of four processes over loopback with everything real (DHT, matchmaking, rpc, yamux, Noise,
// TCP, codec, sums), beside the same bytes through as many socket pairs between four processes with
// libcrypto's seal and open and one copy. Only the all-reduce is timed, from the first member's
// run() to the last one's end.
#include <cmath>
#include <cstring>
#include <string>

#include "core/averaging/averager.hpp"
#include "core/base/compute.hpp"
#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"
#include "core/dht/dht.hpp"
#include "core/net/address_book.hpp"
#include "core/net/swarm.hpp"

#include "tests/bench/bench.hpp"
#include "tests/bench/pipes.hpp"
#include "tests/bench/processes.hpp"

namespace waggle::bench {
namespace {

using compress::CompressionType;

constexpr std::size_t kPeers = 4;
constexpr std::size_t kValues = 11'000'000;
constexpr std::size_t kRounds = 6;
constexpr std::array kCodecs{
    CompressionType::none, CompressionType::float16, CompressionType::uniform_8bit};
// To each other member: the part of the vector that it averages, and the replies to its own: 1/n
// each.
constexpr std::size_t kValuesEachWay = 2 * kValues / kPeers;

struct Card {
  std::array<char, 256> address;
  std::array<std::byte, PeerId::kMaxSize> peer;
  std::size_t peer_size;
};

struct Run {
  std::array<double, kPeers> begun;
  std::array<double, kPeers> ended;
  std::array<double, kPeers> cpu;
};

struct Board {
  std::array<Card, kPeers> cards;
  std::atomic<std::size_t> arrived;  // at all barriers together
  std::array<std::array<Run, kRounds>, kCodecs.size()> runs;
  std::atomic<std::uint64_t> wire_bytes;  // of one round of all members, the last one's
  std::atomic<std::size_t> wrong;         // rounds that did not come to the mean
};

struct Member {
  std::size_t self;
  Board& board;
  SystemRuntime& runtime;
  std::size_t barriers = 0;

  Co<void> barrier() {
    ++board.arrived;
    ++barriers;
    while (board.arrived < barriers * kPeers) {
      auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(1));
      if (!slept) co_return;
    }
  }
};

// Not the same at all members, and their mean is known.
float value(std::size_t member, std::size_t i) {
  return static_cast<float>(member) + static_cast<float>(i % 1000) * 0.001F;
}

bool is_mean(std::vector<float> const& values, CompressionType codec) {
  float const tolerance = codec == CompressionType::none ? 1e-5F : 0.1F;
  for (std::size_t i = 0; i < values.size(); i += 997)
    if (std::abs(values[i] - value(0, i) - 1.5F) > tolerance) return false;
  return true;
}

Co<void> rounds(Member& me, averaging::Averager& averager, std::size_t which) {
  std::vector<float> values(kValues);
  for (std::size_t r = 0; r < kRounds; ++r) {
    for (std::size_t i = 0; i < kValues; ++i) values[i] = value(me.self, i);
    co_await me.barrier();
    averaging::StepOptions step;
    TimePoint const deadline = me.runtime.now() + std::chrono::seconds(60);
    auto round = averager.begin(std::move(step), deadline);
    auto const group = co_await round->assembled(deadline);
    if (!group || group->size() != kPeers) ++me.board.wrong;
    co_await me.barrier();
    auto& run = me.board.runs[which][r];
    double const cpu = cpu_seconds();
    run.begun[me.self] = monotonic_seconds();
    auto const report = co_await round->run(values, 1.0, deadline);
    run.ended[me.self] = monotonic_seconds();
    co_await me.barrier();
    run.cpu[me.self] = cpu_seconds() - cpu;
    bool const right =
        report && report->fraction_averaged == 1.0 && is_mean(values, kCodecs[which]);
    if (!right) ++me.board.wrong;
  }
}

Co<void> run_member(Member& me, Executor& compute) {
  auto const identity = crypto::Identity::generate();
  net::AddressBook book(me.runtime);
  net::SwarmOptions listening;
  listening.listen_host = "127.0.0.1";
  net::Swarm swarm(me.runtime, identity, book, listening);
  auto const listens = swarm.listen();
  if (!listens) ++me.board.wrong;

  auto& card = me.board.cards[me.self];
  std::string const text = swarm.addresses().at(0).text();
  std::memcpy(card.address.data(), text.data(), std::min(text.size(), card.address.size() - 1));
  auto const own = swarm.self().bytes();
  std::memcpy(card.peer.data(), own.data(), own.size());
  card.peer_size = own.size();
  co_await me.barrier();

  std::vector<PeerId> others;
  for (std::size_t i = 0; i < kPeers; ++i) {
    if (i == me.self) continue;
    auto const& other = me.board.cards[i];
    auto const peer = PeerId::from_bytes(ByteView(other.peer).first(other.peer_size));
    auto const address = wire::Multiaddr::parse(other.address.data());
    if (!peer || !address) continue;
    others.push_back(*peer);
    swarm.add_addresses(*peer, std::span(&*address, 1));
  }
  dht::Options joining;
  joining.initial_peers = others;
  {
    dht::Dht dht(swarm, std::move(joining));
    co_await me.barrier();
    auto const ready = co_await dht.bootstrap(me.runtime.now() + std::chrono::seconds(20));
    if (!ready) ++me.board.wrong;
    co_await me.barrier();
    for (std::size_t which = 0; which < kCodecs.size(); ++which) {
      averaging::AveragerOptions options;
      options.prefix = cat("bench", which, "_grad_averager");
      options.class_name = "GradientAverager";
      options.schema = {{{static_cast<std::int64_t>(kValues)}, false}};
      options.compression = compress::Policy(kCodecs[which]);
      options.expected = [&others] { return averaging::Expected{others}; };
      averaging::Averager averager(swarm, dht, compute, std::move(options));
      co_await me.barrier();
      auto const before = swarm.socket_bytes_out();
      co_await rounds(me, averager, which);
      if (which == 0) me.board.wire_bytes += (swarm.socket_bytes_out() - before) / kRounds;
      co_await averager.close();
    }
    co_await me.barrier();
    co_await dht.close();
  }
  co_await swarm.close();
}

struct Best {
  double seconds = 0;
  double cpu = 0;
};

Best best_of(std::array<Run, kRounds> const& runs) {
  Best best;
  for (auto const& run : runs) {
    double const took = *std::max_element(run.ended.begin(), run.ended.end()) -
                        *std::min_element(run.begun.begin(), run.begun.end());
    double cpu = 0;
    for (double const c : run.cpu) cpu += c;
    if (best.seconds == 0 || took < best.seconds) best = {took, cpu};
  }
  return best;
}

}  // namespace

Rows allreduce() {
  Shared<Board> board;
  if (!board) return {};
  PipesOutcome reference;
  auto const measure_reference = [&] {
    for (int i = 0; i < 3; ++i) {
      auto const once = exchange_over_pipes(kPeers, 4 * kValuesEachWay);
      if (once.seconds > 0 && (reference.seconds == 0 || once.seconds < reference.seconds))
        reference = once;
    }
  };
  measure_reference();
  bool const ended = in_processes(kPeers, 150, [&](std::size_t self) {
    SystemRuntime runtime;
    ThreadPool compute("compute", 1);
    Member me{self, *board, runtime};
    Scope scope(runtime);
    scope.spawn("member", run_member(me, compute));
    runtime.run_to_completion();
  });
  measure_reference();
  if (!ended || board->wrong > 0 || reference.seconds == 0) {
    Row failed;
    failed.name = "allreduce";
    failed.unit = "MB/s";
    failed.target = 1;
    failed.note = cat("FAILED: ", board->wrong.load(), " rounds did not come to the mean");
    return {failed};
  }

  double const megabytes = 4.0 * kValuesEachWay * kPeers * (kPeers - 1) / 1e6;
  Rows rows;
  for (std::size_t which = 0; which < kCodecs.size(); ++which) {
    auto const best = best_of(board->runs[which]);
    double const rate = megabytes / best.seconds;
    double const reference_rate = megabytes / reference.seconds;
    bool const plain = kCodecs[which] == CompressionType::none;
    rows.push_back({cat("allreduce, 4 processes, 11 M float32, ", compress::name(kCodecs[which])),
                    rate,
                    "MB/s",
                    plain ? reference_rate / 2 : 0,
                    true,
                    reference_rate,
                    "pipes+seal+open+memcpy",
                    cat("float32 bytes of parts and replies; ",
                        static_cast<int>(best.seconds * 1e3),
                        " ms, cpu ",
                        static_cast<int>(best.cpu * 1e3),
                        " ms, the reference's ",
                        static_cast<int>(reference.cpu_seconds * 1e3),
                        " ms",
                        plain ? cat(", on the wire ", board->wire_bytes.load() / 1'000'000, " MB")
                              : std::string())});
  }
  // Beside other programs the rates say little; what is spent on a byte still does.
  auto const plain = best_of(board->runs[0]);
  rows.push_back({"allreduce, none: CPU of all processes",
                  plain.cpu * 1e3,
                  "ms",
                  2e3 * reference.cpu_seconds,
                  false,
                  1e3 * reference.cpu_seconds,
                  "pipes+seal+open+memcpy",
                  ""});
  return rows;
}

}  // namespace waggle::bench
