// SPDX-License-Identifier: MIT
#include "core/node/control/server.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/api/snapshot_json.hpp"

#include "tests/unit/node/control/pair_of_machines.hpp"

using namespace waggle;
using namespace waggle::test;
using namespace waggle::node::control;
using node::Command;
using node::Snapshot;

namespace {

PeerId const kLaptop = sim::peer(2);

Request hello() {
  return Hello{};
}

Co<void> greet(ByHand& by_hand, sim::MemoryHost& laptop, PeerId machine, Result<Reply>& reply) {
  co_await by_hand.open(laptop, machine);
  if (!by_hand.stream) co_return;
  auto request = hello();
  co_await by_hand.say(laptop.runtime(), std::move(request));
  reply = co_await by_hand.hear(laptop.runtime());
}

Refusal refusal_in(Result<Reply> const& reply) {
  REQUIRE_MESSAGE(reply, reply.error().detail);
  auto const* const said = std::get_if<Refusal>(&*reply);
  REQUIRE(said != nullptr);
  return *said;
}

Snapshot snapshot_in(Result<Reply> const& reply) {
  REQUIRE_MESSAGE(reply, reply.error().detail);
  auto const* const view = std::get_if<View>(&*reply);
  REQUIRE(view != nullptr);
  auto const json = unpack(*view);
  REQUIRE(json);
  auto const snapshot = node::snapshot_from_json(*json);
  REQUIRE(snapshot);
  return *snapshot;
}

Co<void> ask(ByHand& by_hand, Runtime& runtime, Request request, Result<Reply>& reply) {
  co_await by_hand.say(runtime, std::move(request));
  reply = co_await by_hand.hear(runtime);
}

Result<Reply> nothing() {
  return Error{Errc::timeout, "nothing said"};
}

struct Pair {
  explicit Pair(Contacts paired = {})
      : network(world), machine(network, 1, std::move(paired)), laptop(network, kLaptop) {}

  ~Pair() {
    by_hand.stream.reset();
    world.run(machine.close());
    world.run(laptop.close());
  }

  Result<Reply> greets() {
    auto reply = nothing();
    world.run(greet(by_hand, laptop, machine.host.self(), reply));
    return reply;
  }

  Result<Reply> asks(Request request) {
    auto reply = nothing();
    world.run(ask(by_hand, world, std::move(request), reply));
    return reply;
  }

  Result<Contact> pairs(std::string code, sim::MemoryHost* from = nullptr) {
    Result<Contact> result = Error{Errc::timeout, "nothing"};
    auto& host = from != nullptr ? *from : laptop;
    auto const work = [](net::Host& h, PeerId to, std::string c, Result<Contact>& out) -> Co<void> {
      out = co_await pair_with(h, to, std::move(c), "lap\ntop", h.runtime().now() + seconds(30));
    };
    world.run(work(host, machine.host.self(), std::move(code), result));
    return result;
  }

  sim::World world{7};
  sim::MemoryNetwork network;
  WatchedMachine machine;
  sim::MemoryHost laptop;
  ByHand by_hand;
};

}  // namespace

TEST_SUITE("control server") {
  TEST_CASE("with nobody paired and no code shown, the protocol is not there") {
    Pair pair;
    CHECK(pair.machine.host.protocols().empty());
    REQUIRE(pair.machine.server->open_pairing("k7m2-9xq4", Right::watch));
    CHECK(pair.machine.host.protocols() == std::vector<std::string>{std::string(kProtocol)});
    CHECK(pair.machine.server->view().pairing_until ==
          doctest::Approx(pair.world.unix_time() + 300));
    pair.world.run_for(Server::kWindow + seconds(1));
    CHECK(pair.machine.host.protocols().empty());
    CHECK(pair.machine.server->view().pairing_until == 0);
  }

  TEST_CASE("a stranger gets one plain refusal, whatever it asks for") {
    Pair pair(may(sim::peer(9), Right::control));
    auto const said = refusal_in(pair.greets());
    CHECK(said.why == Why::not_paired);
    CHECK_FALSE(said.words.empty());
    pair.by_hand.stream.reset();
    pair.world.run(pair.by_hand.open(pair.laptop, pair.machine.host.self()));
    CHECK(refusal_in(pair.asks(PairStart{})).why == Why::not_paired);
  }

  TEST_CASE("who gives the code is paired, once, with the right that was offered") {
    Pair pair;
    REQUIRE(pair.machine.server->open_pairing("k7m29xq4", Right::control));
    auto const contact = pair.pairs("K7M2-9XQ4");
    REQUIRE_MESSAGE(contact, contact.error().detail);
    CHECK(contact->peer == pair.machine.host.self());
    CHECK(contact->name == "server");
    CHECK(contact->right == Right::control);
    REQUIRE(pair.machine.kept.all().size() == 1);
    CHECK(pair.machine.kept.all().front().peer == kLaptop);
    CHECK(pair.machine.kept.all().front().name == "laptop");
    CHECK(pair.machine.notices.size() == 1);
    CHECK(pair.machine.server->view().pairing_tries == 0);
    // The code is used up.
    sim::MemoryHost other(pair.network, sim::peer(3));
    auto const again = pair.pairs("k7m29xq4", &other);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == Errc::refused);
    pair.world.run(other.close());
    CHECK(std::holds_alternative<Welcome>(*pair.greets()));
  }

  TEST_CASE("a wrong code is refused and counted, and after a few so is the right one") {
    Pair pair;
    REQUIRE(pair.machine.server->open_pairing("k7m29xq4", Right::watch));
    for (int i = 0; i < PairingWindow::kEachPeer; ++i) {
      auto const wrong = pair.pairs("k7m29xq5");
      REQUIRE_FALSE(wrong);
      CHECK(wrong.error().code == Errc::refused);
    }
    CHECK(pair.machine.server->view().pairing_tries == PairingWindow::kEachPeer);
    CHECK_FALSE(pair.pairs("k7m29xq4"));
    CHECK(pair.machine.kept.empty());
    // Another machine is not locked out by it.
    sim::MemoryHost other(pair.network, sim::peer(3));
    CHECK(pair.pairs("k7m29xq4", &other));
    pair.world.run(other.close());
  }

  TEST_CASE("a proof is worth nothing once the code was withdrawn") {
    Pair pair;
    REQUIRE(pair.machine.server->open_pairing("k7m29xq4", Right::control));
    pair.world.run(pair.by_hand.open(pair.laptop, pair.machine.host.self()));
    PairSession const session{std::byte{1}};
    std::array<std::byte, 64> entropy{std::byte{5}};
    WatcherPairing mine("k7m29xq4", kLaptop, pair.machine.host.self(), session, entropy);
    auto const first = pair.asks(PairStart{session, mine.point()});
    REQUIRE(first);
    auto const* const answer = std::get_if<PairAnswer>(&*first);
    REQUIRE(answer != nullptr);
    auto const proof = mine.answer(answer->point, answer->proof);
    REQUIRE(proof);
    pair.machine.server->close_pairing();
    CHECK(refusal_in(pair.asks(PairProved{*proof, "laptop"})).why == Why::no_code);
    CHECK(pair.machine.kept.empty());
  }

  TEST_CASE(
      "a watcher gets snapshots as it asks for them, at most one a second, without who else "
      "watches") {
    Pair pair(may(kLaptop, Right::watch));
    pair.machine.show(1);
    auto const welcome = pair.greets();
    REQUIRE(welcome);
    REQUIRE(std::holds_alternative<Welcome>(*welcome));
    CHECK(std::get<Welcome>(*welcome).right == Right::watch);
    CHECK(std::get<Welcome>(*welcome).name == "server");
    auto const first = snapshot_in(pair.asks(Next{}));
    CHECK(first.time == 1);
    CHECK_FALSE(first.control.served);
    auto const begin = pair.world.now();
    pair.machine.show(2);
    CHECK(snapshot_in(pair.asks(Next{})).time == 2);
    CHECK(pair.world.now() - begin >= seconds(0.9));
    // Nothing new: nothing comes until there is.
    pair.world.run(pair.by_hand.say(pair.world, Next{}));
    pair.world.run_for(seconds(5));
    pair.machine.show(3);
    auto reply = nothing();
    auto const hear = [](ByHand& by_hand, Runtime& runtime, Result<Reply>& out) -> Co<void> {
      out = co_await by_hand.hear(runtime);
    };
    pair.world.run(hear(pair.by_hand, pair.world, reply));
    CHECK(snapshot_in(reply).time == 3);
    CHECK(std::holds_alternative<Pong>(*pair.asks(Ping{})));
    CHECK(pair.machine.server->view().paired.at(0).connected);
  }

  TEST_CASE("a watcher's commands are refused in words; a controller's are carried out") {
    Pair watch(may(kLaptop, Right::watch));
    REQUIRE(std::holds_alternative<Welcome>(*watch.greets()));
    auto const no = watch.asks(Order{5, R"({"command":"pause"})"});
    REQUIRE(no);
    CHECK(std::get<Answer>(*no) ==
          Answer{5, false, "you may watch this machine, but not control it"});
    CHECK(watch.machine.commands.empty());

    Pair control(may(kLaptop, Right::control));
    REQUIRE(std::holds_alternative<Welcome>(*control.greets()));
    CHECK(std::get<Answer>(*control.asks(Order{6, R"({"command":"pause"})"})) ==
          Answer{6, true, {}});
    REQUIRE(control.machine.commands.size() == 1);
    CHECK(control.machine.commands.front().kind == Command::Kind::pause);
    for (auto const* const bad : {R"({"command":"pair","name":"control","value":"k7m29xq4"})",
                                  R"({"command":"unpair"})",
                                  R"({"command":"set","name":"host","value":"\"0.0.0.0\""})",
                                  R"({"command":"fly"})",
                                  "no JSON"}) {
      CAPTURE(bad);
      auto const answer = std::get<Answer>(*control.asks(Order{7, bad}));
      CHECK_FALSE(answer.done);
      CHECK_FALSE(answer.words.empty());
    }
    CHECK(control.machine.commands.size() == 1);
    control.machine.answer = Error{Errc::invalid, "power must be light, medium or full"};
    CHECK(std::get<Answer>(
              *control.asks(Order{8, R"({"command":"set","name":"power","value":"1"})"})) ==
          Answer{8, false, "power must be light, medium or full"});
  }

  TEST_CASE("who is removed hears why, and its streams end at once") {
    Pair pair(may(kLaptop, Right::control));
    REQUIRE(std::holds_alternative<Welcome>(*pair.greets()));
    REQUIRE(pair.machine.server->remove(kLaptop));
    CHECK(pair.machine.kept.empty());
    CHECK(refusal_in(pair.asks(Order{1, R"({"command":"stop"})"})).why == Why::not_paired);
    CHECK(pair.machine.commands.empty());
    CHECK_FALSE(pair.asks(Ping{}));
    CHECK(pair.machine.host.protocols().empty());
    CHECK(pair.machine.server->remove(kLaptop).error().code == Errc::not_found);
  }

  TEST_CASE("one watcher has a few streams, and a silent one none") {
    Pair pair(may(kLaptop, Right::watch));
    std::vector<ByHand> streams(Server::kStreamsEach + 1);
    std::size_t welcome = 0;
    for (auto& s : streams) {
      auto reply = nothing();
      pair.world.run(greet(s, pair.laptop, pair.machine.host.self(), reply));
      REQUIRE(reply);
      if (std::holds_alternative<Welcome>(*reply)) ++welcome;
    }
    CHECK(welcome == Server::kStreamsEach);
    pair.world.run_for(Server::kIdle + seconds(5));
    CHECK_FALSE(pair.machine.server->view().paired.at(0).connected);
    streams.clear();
    CHECK(std::holds_alternative<Welcome>(*pair.greets()));
  }

  TEST_CASE("who opened many streams before it was paired has no more than others after") {
    Pair pair;
    REQUIRE(pair.machine.server->open_pairing("k7m29xq4", Right::watch));
    std::vector<ByHand> streams(Server::kStreamsEach + 3);
    for (auto& s : streams) pair.world.run(s.open(pair.laptop, pair.machine.host.self()));
    REQUIRE(pair.pairs("k7m29xq4"));
    std::size_t welcome = 0;
    for (auto& s : streams) {
      auto reply = nothing();
      pair.world.run(ask(s, pair.world, hello(), reply));
      REQUIRE(reply);
      if (std::holds_alternative<Welcome>(*reply)) ++welcome;
    }
    CHECK(welcome == Server::kStreamsEach);
    streams.clear();
  }

  TEST_CASE("noise, a frame too long and a greeting in the middle end the stream") {
    Pair pair(may(kLaptop, Right::control));
    auto const write = [](ByHand& by_hand, Runtime& runtime, Bytes bytes) -> Co<void> {
      (void)co_await by_hand.stream->write(bytes, runtime.now() + seconds(5));
    };
    auto const hear = [](ByHand& by_hand, Runtime& runtime, Result<Reply>& out) -> Co<void> {
      out = co_await by_hand.hear(runtime);
    };
    for (auto const& bad :
         {to_bytes("\x03???"), to_bytes("\xff\xff\xff\x7f"), to_bytes("\x02\x0a\x05")}) {
      REQUIRE(std::holds_alternative<Welcome>(*pair.greets()));
      pair.world.run(write(pair.by_hand, pair.world, bad));
      auto reply = nothing();
      pair.world.run(hear(pair.by_hand, pair.world, reply));
      REQUIRE_FALSE(reply);
      CHECK(reply.error().code == Errc::closed);
    }
    REQUIRE(std::holds_alternative<Welcome>(*pair.greets()));
    CHECK_FALSE(pair.asks(Hello{}));
    REQUIRE(std::holds_alternative<Welcome>(*pair.greets()));
    CHECK_FALSE(pair.asks(PairStart{}));
    CHECK(refusal_in([&] {
            pair.by_hand.stream.reset();
            pair.world.run(pair.by_hand.open(pair.laptop, pair.machine.host.self()));
            return pair.asks(Hello{0});
          }())
              .why == Why::version);
  }

  TEST_CASE("strangers that keep quiet while a code is shown give way to who speaks") {
    Pair pair;
    REQUIRE(pair.machine.server->open_pairing("k7m29xq4", Right::watch));
    std::vector<std::unique_ptr<sim::MemoryHost>> crowd;
    std::vector<ByHand> streams(Server::kMaxStrangers + 50);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      crowd.push_back(std::make_unique<sim::MemoryHost>(pair.network, sim::peer(100 + i)));
      pair.world.run(streams[i].open(*crowd.back(), pair.machine.host.self()));
    }
    CHECK(pair.pairs("k7m29xq4"));
    streams.clear();
    for (auto& host : crowd) pair.world.run(host->close());
  }
}
