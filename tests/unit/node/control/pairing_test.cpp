// SPDX-License-Identifier: MIT
#include "core/node/control/pairing.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::node::control;
using namespace std::chrono_literals;
using Verdict = PairingWindow::Verdict;

namespace {

std::array<std::byte, 64> entropy(std::uint8_t with) {
  std::array<std::byte, 64> out{};
  out.fill(static_cast<std::byte>(with));
  return out;
}

constexpr PairSession kSession{std::byte{7}};
PeerId const kWatcher = sim::peer(1);
PeerId const kMachine = sim::peer(2);

wire::Multiaddr at(std::string const& text) {
  auto address = wire::Multiaddr::parse(text);
  REQUIRE(address);
  return *address;
}

/// Whether both sides believe each other, each with its own code and its own view of who is who.
bool believe(std::string const& code_watcher,
             std::string const& code_machine,
             PeerId const& watcher_seen,
             PeerId const& machine_seen) {
  WatcherPairing watcher(code_watcher, kWatcher, machine_seen, kSession, entropy(1));
  auto const machine = MachinePairing::begin(
      code_machine, watcher_seen, kMachine, watcher.session(), watcher.point(), entropy(2));
  REQUIRE(machine);
  auto const proof = watcher.answer(machine->point(), machine->proof());
  // Neither alone: who cannot prove it to the watcher gets nothing to prove to the machine.
  return proof && machine->proves(*proof);
}

}  // namespace

TEST_SUITE("Pairing") {
  TEST_CASE("who has the code is believed, by both; any other code is not") {
    CHECK(believe("k7m29xq4", "k7m29xq4", kWatcher, kMachine));
    CHECK_FALSE(believe("k7m29xq4", "k7m29xq5", kWatcher, kMachine));
    CHECK_FALSE(believe("00000000", "00000001", kWatcher, kMachine));
  }

  TEST_CASE("a go-between that passes every message on is found out by its PeerIDs") {
    PeerId const between = sim::peer(3);
    CHECK_FALSE(believe("k7m29xq4", "k7m29xq4", between, between));
    CHECK_FALSE(believe("k7m29xq4", "k7m29xq4", kWatcher, between));
    CHECK_FALSE(believe("k7m29xq4", "k7m29xq4", between, kMachine));
    // And who swaps the roles.
    CHECK_FALSE(believe("k7m29xq4", "k7m29xq4", kMachine, kWatcher));
  }

  TEST_CASE("proofs are of one run: those of another one, or the own one back, prove nothing") {
    WatcherPairing first("k7m29xq4", kWatcher, kMachine, kSession, entropy(1));
    auto const a =
        MachinePairing::begin("k7m29xq4", kWatcher, kMachine, kSession, first.point(), entropy(2));
    auto const b =
        MachinePairing::begin("k7m29xq4", kWatcher, kMachine, kSession, first.point(), entropy(3));
    REQUIRE(a);
    REQUIRE(b);
    auto const proof = first.answer(a->point(), a->proof());
    REQUIRE(proof);
    CHECK(a->proves(*proof));
    CHECK_FALSE(b->proves(*proof));
    CHECK_FALSE(a->proves(a->proof()));
    CHECK_FALSE(a->proves(PairProof{}));
    CHECK_FALSE(first.answer(a->point(), b->proof()));
    CHECK_FALSE(first.answer(a->point(), *proof));
  }

  TEST_CASE("points that are none are malformed, from either side") {
    crypto::CpacePoint none{};
    auto const bad =
        MachinePairing::begin("k7m29xq4", kWatcher, kMachine, kSession, none, entropy(2));
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == Errc::malformed);
    WatcherPairing watcher("k7m29xq4", kWatcher, kMachine, kSession, entropy(1));
    CHECK_FALSE(watcher.answer(none, PairProof{}));
    none.fill(std::byte{0xff});
    CHECK_FALSE(watcher.answer(none, PairProof{}));
  }

  TEST_CASE("a code is read as a person types it") {
    CHECK(*parse_code("k7m2-9xq4") == "k7m29xq4");
    CHECK(*parse_code(" K7M2 9XQ4 ") == "k7m29xq4");
    CHECK(*parse_code("ol1i-0000") == "01110000");
    for (auto const* const bad : {"", "k7m2-9xq", "k7m2-9xq45", "k7m2-9xqu", "k7m2-9xq!", "机器"}) {
      CAPTURE(bad);
      CHECK_FALSE(parse_code(bad));
    }
    std::array<std::byte, kCodeLetters> random{};
    for (std::size_t i = 0; i < random.size(); ++i)
      random[i] = static_cast<std::byte>(29 * i + 250);
    auto const code = make_code(random);
    CHECK(code.size() == kCodeLetters);
    CHECK(*parse_code(shown_code(code)) == code);
  }
}

TEST_SUITE("PairingWindow") {
  TEST_CASE("one PeerID has a few tries, and time ends all") {
    TimePoint now{};
    PairingWindow window("k7m29xq4", Right::watch, now + 5min);
    auto const home = at("/ip4/192.168.1.7/tcp/1");
    for (int i = 0; i < PairingWindow::kEachPeer; ++i)
      CHECK(window.take_try(sim::peer(1), home, now) == Verdict::go);
    CHECK(window.take_try(sim::peer(1), home, now) == Verdict::enough);
    CHECK(window.take_try(sim::peer(2), home, now) == Verdict::go);
    CHECK(window.take_try(sim::peer(3), home, now + 5min) == Verdict::over);
  }

  TEST_CASE("one address, whatever PeerIDs it makes up, has a rate; others are not touched by it") {
    TimePoint now{};
    PairingWindow window("k7m29xq4", Right::watch, now + 5min);
    auto const loud = at("/ip4/203.0.113.5/tcp/1");
    int let = 0;
    std::uint64_t n = 10;
    for (; n < 1000; ++n) let += window.take_try(sim::peer(n), loud, now) == Verdict::go ? 1 : 0;
    CHECK(let == static_cast<int>(PairingWindow::kAddressAtOnce));
    CHECK(window.take_try(sim::peer(1), at("/ip4/203.0.113.6/tcp/1"), now) == Verdict::go);
    // With time it may again.
    CHECK(window.take_try(sim::peer(n++), loud, now + 2s) == Verdict::go);
    CHECK(window.take_try(sim::peer(n++), loud, now + 2s) == Verdict::slow);
    // One household of IPv6 is one address.
    let = 0;
    for (int i = 1; i < 100; ++i)
      let += window.take_try(sim::peer(n++), at(cat("/ip6/2001:db8:1:2::", i, "/tcp/1")), now) ==
                     Verdict::go
                 ? 1
                 : 0;
    CHECK(let == static_cast<int>(PairingWindow::kAddressAtOnce));
  }

  TEST_CASE("a flood from everywhere guesses little, and locks the owner's network out never") {
    TimePoint const begin{};
    PairingWindow window("k7m29xq4", Right::watch, begin + 5min);
    int let = 0;
    std::uint64_t n = 100;
    bool owner_in = true;
    for (int second = 0; second < 300; ++second) {
      auto const now = begin + std::chrono::seconds(second);
      for (int i = 0; i < 60; ++i) {
        auto const from = at(cat("/ip4/8.", second % 200, ".", i, ".1/tcp/1"));
        let += window.take_try(sim::peer(n++), from, now) == Verdict::go ? 1 : 0;
      }
      if (second % 100 == 50)
        owner_in = owner_in &&
                   window.take_try(sim::peer(1), at("/ip4/192.168.1.7/tcp/1"), now) == Verdict::go;
    }
    CHECK(owner_in);
    CHECK(let <= static_cast<int>(PairingWindow::kAllPerSecond * 300 + PairingWindow::kAllAtOnce));
    CHECK(let >= 5000);  // the flood was one
    // 40 bits: under one in a hundred million for all of it.
    CHECK(let / std::pow(2.0, 40) < 1e-8);
  }
}
