// SPDX-License-Identifier: MIT
// One stream between two Swarms on loopback, both in one thread (yamux, Noise, TCP, the kernel's
// copies), beside the least that must be done to each byte: seal, open, copy. Once between peers
// that use each other's protocols, as those of a group do, and once from a stranger, whose
// receiver keeps its buffers small. Written for the release preset.
#include <cstring>

#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/crypto/aead.hpp"
#include "core/net/address_book.hpp"
#include "core/net/noise.hpp"
#include "core/net/swarm.hpp"

#include "tests/bench/bench.hpp"

namespace waggle::bench {
namespace {

constexpr std::size_t kTotal = 256u << 20;
constexpr std::size_t kPart = 512u << 10;  // what averaging writes at a time
constexpr int kRuns = 3;

struct Outcome {
  double seconds = 0;
  double round_trip_ms = 0;
};

Co<void> sink(Runtime& runtime, net::Incoming incoming) {
  TimePoint const deadline = runtime.now() + std::chrono::minutes(5);
  Bytes buffer(kPart);
  for (;;) {
    auto const n = co_await incoming.stream->read_some(buffer, deadline);
    if (!n) co_return;
    if (*n == 0) break;
  }
  (void)co_await incoming.stream->write(ByteView(buffer).first(1), deadline);
  (void)co_await incoming.stream->close_write(deadline);
}

// Whose protocol we have used is no stranger.
Co<void> use_protocol(net::Swarm& from, PeerId of) {
  TimePoint const deadline = from.runtime().now() + std::chrono::minutes(1);
  auto const stream = co_await from.open(of, "/bench/sink", deadline);
  if (!stream) co_return;
  (void)co_await (*stream)->close_write(deadline);
  Bytes answer(1);
  (void)co_await net::read_exactly(**stream, answer, deadline);
}

Co<void> transfer(net::Swarm& from, PeerId to, Outcome& best) {
  Runtime& runtime = from.runtime();
  TimePoint const deadline = runtime.now() + std::chrono::minutes(5);
  Bytes const part(kPart, std::byte{1});
  for (int run = 0; run < kRuns; ++run) {
    auto const stream = co_await from.open(to, "/bench/sink", deadline);
    if (!stream) co_return;
    TimePoint const start = runtime.now();
    for (std::size_t sent = 0; sent < kTotal; sent += kPart) {
      auto const wrote = co_await (*stream)->write(part, deadline);
      if (!wrote) co_return;
    }
    (void)co_await (*stream)->close_write(deadline);
    Bytes answer(1);
    auto const read = co_await net::read_exactly(**stream, answer, deadline);
    if (!read) co_return;
    double const took = to_seconds(runtime.now() - start);
    if (best.seconds == 0 || took < best.seconds) best.seconds = took;
  }
}

Co<void> measure(Runtime& runtime, bool strangers, Outcome& outcome) {
  auto const alice = crypto::Identity::generate();
  auto const bob = crypto::Identity::generate();
  net::AddressBook alices(runtime);
  net::AddressBook bobs(runtime);
  net::SwarmOptions options;
  options.listen_host = "127.0.0.1";
  net::Swarm a(runtime, alice, alices, options);
  net::Swarm b(runtime, bob, bobs, options);
  net::Handler handler = [&runtime](net::Incoming incoming) {
    return sink(runtime, std::move(incoming));
  };
  auto const serving = b.serve("/bench/sink", handler);
  auto const serving_back = a.serve("/bench/sink", handler);
  if (b.listen()) {
    a.add_addresses(b.self(), b.addresses());
    co_await use_protocol(a, b.self());
    if (!strangers) co_await use_protocol(b, a.self());
    co_await transfer(a, b.self(), outcome);
    for (auto const& peer : a.peers())
      if (peer.round_trip) outcome.round_trip_ms = to_seconds(*peer.round_trip) * 1e3;
  }
  co_await a.close();
  co_await b.close();
}

// MB/s of the best run.
double rate(bool strangers) {
  Outcome outcome;
  SystemRuntime runtime;
  Scope scope(runtime);
  scope.spawn("measure", measure(runtime, strangers, outcome));
  runtime.run_to_completion();
  return outcome.seconds == 0 ? 0 : static_cast<double>(kTotal) / outcome.seconds / 1e6;
}

}  // namespace

Rows stream() {
  crypto::Sha256 key{};
  crypto::Aead sealer(key);
  crypto::Aead opener(key);
  Bytes plain(net::kMaxNoisePlaintext);
  Bytes sealed(net::kMaxNoiseMessage);
  Bytes copied(plain.size());
  std::uint64_t nonce = 0;
  double const raw = best_seconds_per_call([&] {
    sealer.seal(nonce, {}, plain, sealed);
    (void)opener.open(nonce++, {}, sealed, plain);
    std::memcpy(copied.data(), plain.data(), plain.size());
  });
  double const raw_rate = static_cast<double>(plain.size()) / raw / 1e6;

  double const known = rate(false);
  double const stranger = rate(true);
  return {{"stream over loopback",
           known,
           "MB/s",
           raw_rate / 2,
           true,
           raw_rate,
           "seal+open+memcpy",
           "both ends and the kernel's TCP in one thread"},
          {"stream from a stranger",
           stranger,
           "MB/s",
           0,
           true,
           raw_rate,
           "seal+open+memcpy",
           "windows and buffers small on purpose"}};
}

}  // namespace waggle::bench
