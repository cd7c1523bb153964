// SPDX-License-Identifier: MIT
// Bad company and bad timing: what one member may cost the others.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "core/averaging/averager.hpp"
#include "core/averaging/gather.hpp"
#include "core/averaging/messages.hpp"
#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/rpc/rpc.hpp"

#include "tests/unit/averaging/swarm.hpp"

using namespace waggle;
using namespace waggle::averaging;
using namespace std::chrono_literals;

namespace {

void fill(test::Swarm& swarm, std::size_t n) {
  for (std::size_t p = 0; p < swarm.peers.size(); ++p) {
    auto& values = swarm.peers[p]->values;
    values.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<float>(p + 1) + static_cast<float>(i % 97) * 0.01F;
  }
}

dht::Record declaration_of(std::string const& key, PeerId const& peer, double expiration) {
  dht::Record record;
  record.key = dht::Id::of_text(key);
  record.subkey = wire::Msgpack(to_bytes(peer.bytes())).encode();
  record.value = wire::Msgpack(true).encode();
  record.expiration = expiration;
  return record;
}

Co<void> declare_strangers(test::Swarm& swarm, std::size_t count, double ahead) {
  for (std::size_t i = 0; i < count; ++i) {
    auto record = declaration_of(swarm.peers[0]->averager->group_key(),
                                 sim::peer(1000 + i),
                                 swarm.peers[0]->dht->time() + ahead);
    auto const stored =
        co_await swarm.peers[0]->dht->store(std::move(record), swarm.world.now() + 10s);
    REQUIRE(stored);
  }
}

}  // namespace

TEST_CASE("Averager: ten invented peers slow at most one round") {
  for (bool const answering : {true, false}) {  // refused dials, or dials that nobody answers
    auto links = sim::links::lan();
    links.dead_hosts_refuse = answering;
    test::Swarm swarm(4, links);
    AveragerOptions options = swarm.options({{{1000}, false}});
    swarm.add(4, options);
    // Ten machines that were there once: dials to them behave like dials to dead hosts.
    for (std::size_t i = 0; i < 10; ++i) sim::MemoryHost gone(swarm.network, sim::peer(1000 + i));
    fill(swarm, 1000);
    swarm.world.run(declare_strangers(swarm, 10, 2));  // before anybody's own declaration
    swarm.run_round();
    for (auto const& peer : swarm.peers) {
      REQUIRE_MESSAGE(*peer->outcome, (*peer->outcome ? "" : peer->outcome->error().detail));
      CHECK((*peer->outcome)->group.size() == 4);
      CHECK(peer->formed <= 3s);
    }
    swarm.world.run(declare_strangers(swarm, 10, 3));  // the same ones again: now they are known
    swarm.run_round();
    for (auto const& peer : swarm.peers) {
      REQUIRE(*peer->outcome);
      CHECK((*peer->outcome)->group.size() == 4);
      CHECK(peer->formed <= 300ms);
    }
  }
}

TEST_CASE(
    "Averager: an expected peer that died slows the round by seconds, not by the whole window") {
  test::Swarm swarm(6);
  AveragerOptions options = swarm.options({{{1000}, false}});
  options.min_matchmaking_time = 15s;
  swarm.add(4, options);
  fill(swarm, 1000);
  swarm.run_round();
  swarm.peers[3]->host->kill();
  swarm.run_round();
  for (std::size_t p = 0; p < 3; ++p) {
    REQUIRE(*swarm.peers[p]->outcome);
    CHECK((*swarm.peers[p]->outcome)->group.size() == 3);
    CHECK(swarm.peers[p]->formed <= 2s);
  }
}

TEST_CASE("Averager: who has no values yet is waited for, and parts that come early are kept") {
  test::Swarm swarm(2);
  AveragerOptions options = swarm.options({{{50'000}, false}});
  options.part_bytes = 8192;
  swarm.add(3, options);
  fill(swarm, 50'000);
  auto late = [](test::Swarm& s) -> Co<void> {
    auto& peer = *s.peers[2];
    StepOptions step;
    auto round = peer.averager->begin(std::move(step), s.world.now() + 60s);
    auto const group = co_await round->assembled(s.world.now() + 10s);
    REQUIRE(group);
    auto const slept =
        co_await s.world.sleep_for(4s);  // our batch is not done; sender_timeout is 5 s
    REQUIRE(slept);
    auto outcome = co_await round->run(peer.values, 1, s.world.now() + 60s);
    peer.outcome.emplace(std::move(outcome));
  };
  auto scenario = [late](test::Swarm& s) -> Co<void> {
    Scope scope(s.world);
    scope.spawn("a", s.round(0, {}, 60s));
    scope.spawn("b", s.round(1, {}, 60s));
    scope.spawn("late", late(s));
    (void)co_await scope.join();
  };
  swarm.world.run(scenario(swarm));
  for (auto const& peer : swarm.peers) {
    REQUIRE_MESSAGE(*peer->outcome, (*peer->outcome ? "" : peer->outcome->error().detail));
    CHECK((*peer->outcome)->fraction_averaged == 1.0);
    CHECK((*peer->outcome)->banned.empty());
    CHECK(peer->values[0] == doctest::Approx(2.0));
  }
}

TEST_CASE(
    "Averager: a sender that never comes is given up after sender_timeout, the round goes on") {
  test::Swarm swarm(2);
  AveragerOptions options = swarm.options({{{50'000}, false}});
  options.part_bytes = 8192;
  swarm.add(3, options);
  fill(swarm, 50'000);
  auto absent = [](test::Swarm& s, std::unique_ptr<Averager::Round>& round) -> Co<void> {
    auto const group = co_await round->assembled(s.world.now() + 10s);
    REQUIRE(group);
    auto const slept = co_await s.world.sleep_for(30s);
    REQUIRE(slept);
  };
  log::start({.to_stderr = log::Level::error, .kept = log::Level::info});
  auto const lines = log::recent(0);
  auto const before = lines.empty() ? 0 : lines.back().number;
  std::unique_ptr<Averager::Round> round =
      swarm.peers[2]->averager->begin({}, swarm.world.now() + 60s);
  auto scenario = [absent, &round](test::Swarm& s) -> Co<void> {
    auto run = [](test::Swarm& w, Co<void> waiting) -> Co<void> {
      Scope scope(w.world);
      scope.spawn("a", w.round(0, {}, 60s));
      scope.spawn("b", w.round(1, {}, 60s));
      scope.spawn("absent", std::move(waiting));
      (void)co_await scope.join();
    };
    return run(s, absent(s, round));
  };
  swarm.world.run(scenario(swarm));
  for (std::size_t p = 0; p < 2; ++p) {
    auto const& peer = *swarm.peers[p];
    REQUIRE(*peer.outcome);
    CHECK(peer.took < 12s);  // reducer_timeout: its own parts keep local values
    CHECK((*peer.outcome)->failed_reducers.size() == 1);
    CHECK((*peer.outcome)->banned.size() == 1);
    CHECK((*peer.outcome)->refused.empty());
    CHECK((*peer.outcome)->missing() == std::vector{swarm.peers[2]->host->self()});
    CHECK((*peer.outcome)->fraction_averaged > 0.6);
  }
  // Silent as a sender and as a reducer, for two who wait: a line each.
  auto const said = log::recent(before);
  auto const name = crypto::short_text(swarm.peers[2]->host->self());
  CHECK(std::ranges::count_if(said, [&](log::Line const& line) {
          return line.text.find(name) != std::string::npos;
        }) == 2);
  log::start({});
  round.reset();
}

TEST_CASE("Averager: who brings too large a weight is refused, which is not silence") {
  test::Swarm swarm(3);
  AveragerOptions options = swarm.options({{{50'000}, false}});
  options.part_bytes = 8192;
  options.weight_limit = [](PeerId const&) { return 10.0; };
  swarm.add(3, options);
  fill(swarm, 50'000);
  swarm.peers[2]->weight = 1000;
  swarm.run_round();
  auto const liar = swarm.peers[2]->host->self();
  for (std::size_t p = 0; p < 2; ++p) {
    auto const& outcome = *swarm.peers[p]->outcome;
    REQUIRE(outcome);
    CHECK(outcome->banned == std::vector{liar});
    CHECK(outcome->refused == std::vector{liar});
    CHECK(outcome->failed_reducers.empty());
    CHECK(outcome->missing().empty());
    CHECK(outcome->fraction_averaged == 1.0);
  }
}

TEST_CASE("Averager: leaving an assembled group is told, so that nobody waits") {
  test::Swarm swarm(2);
  AveragerOptions options = swarm.options({{{5000}, false}});
  swarm.add(3, options);
  fill(swarm, 5000);
  auto leaver = [](test::Swarm& s) -> Co<void> {
    auto round = s.peers[2]->averager->begin({}, s.world.now() + 60s);
    auto const group = co_await round->assembled(s.world.now() + 10s);
    REQUIRE(group);
    round.reset();
  };
  auto scenario = [leaver](test::Swarm& s) -> Co<void> {
    auto run = [](test::Swarm& w, Co<void> leaving) -> Co<void> {
      Scope scope(w.world);
      scope.spawn("a", w.round(0, {}, 60s));
      scope.spawn("b", w.round(1, {}, 60s));
      scope.spawn("leaver", std::move(leaving));
      (void)co_await scope.join();
    };
    return run(s, leaver(s));
  };
  swarm.world.run(scenario(swarm));
  for (std::size_t p = 0; p < 2; ++p) {
    REQUIRE(*swarm.peers[p]->outcome);
    CHECK(swarm.peers[p]->took < 2s);
  }
}

namespace {

// A follower written by hand that sends one part every `gap`.
Co<void> slow_member(test::Swarm& swarm,
                     PeerId leader,
                     Schema schema,
                     std::size_t part_floats,
                     Duration gap,
                     int& parts_sent) {
  auto& host = *swarm.peers.back()->host;
  auto const deadline = swarm.world.now() + 600s;
  auto const slept = co_await swarm.world.sleep_for(50ms);
  REQUIRE(slept);
  auto joined = co_await net::rpc::ClientCall::open(
      host, leader, swarm.prefix + "::GradientAverager.rpc_join_group", deadline);
  REQUIRE(joined);
  JoinRequest request;
  auto const hash = schema_hash(schema);
  request.schema_hash = to_bytes(ByteView(hash));
  request.expiration = swarm.peers[0]->dht->time() + 100;
  Gather gather;
  gather.mode = PeerMode::client;
  request.gather = gather.encode();
  request.client_mode = true;
  request.group_key = swarm.prefix + ".0b";
  auto const bytes = encode(request);
  (void)co_await (*joined)->send(bytes, deadline);
  (void)co_await (*joined)->finish(deadline);
  auto const first = co_await (*joined)->receive(deadline);
  REQUIRE(first);
  REQUIRE(*first);
  REQUIRE(parse_message_from_leader(**first)->code == MessageCode::accepted);
  auto const second = co_await (*joined)->receive(deadline);
  REQUIRE(second);
  REQUIRE(*second);
  auto const begin = parse_message_from_leader(**second);
  REQUIRE(begin->code == MessageCode::begin_allreduce);
  auto call = co_await net::rpc::ClientCall::open(
      host, leader, swarm.prefix + "::GradientAverager.rpc_aggregate_part", deadline);
  REQUIRE(call);
  Bytes const part(4 * part_floats);
  TensorHeader header;
  header.size = {static_cast<std::uint32_t>(part_floats)};
  for (bool first_part = true;; first_part = false) {
    auto const head =
        averaging_head(first_part ? MessageCode::part_for_averaging : MessageCode::no_code,
                       begin->group_id,
                       1,
                       header,
                       part.size());
    auto const sent = co_await (*call)->send(head, part, deadline);
    if (!sent) co_return;
    ++parts_sent;
    auto const waited = co_await swarm.world.sleep_for(gap);
    if (!waited) co_return;
  }
}

}  // namespace

TEST_CASE("Averager: a sender that drips costs its own parts, not the round") {
  test::Swarm swarm(2);
  Schema const schema{{{200'000}, false}};
  AveragerOptions options = swarm.options(schema);
  options.part_bytes = 4096;  // 196 parts; at 4 s each the drip would take 13 minutes
  options.target_group_size = 4;
  swarm.add(3, options, false);
  swarm.add_peer();
  fill(swarm, 200'000);
  int parts_sent = 0;
  auto scenario = [&](test::Swarm& s) -> Co<void> {
    auto run = [](test::Swarm& w, Co<void> drip) -> Co<void> {
      Scope others(w.world);
      Scope scope(w.world);
      others.spawn("drip", std::move(drip));
      for (std::size_t i = 0; i < 3; ++i)
        scope.spawn("round", w.round(i, i == 0 ? 0ms : 10ms, 120s));
      (void)co_await scope.join();
      co_await others.close();
    };
    return run(s, slow_member(s, s.peers[0]->host->self(), schema, 1024, 4s, parts_sent));
  };
  swarm.world.run(scenario(swarm));
  for (std::size_t p = 0; p < 3; ++p) {
    auto const& peer = *swarm.peers[p];
    REQUIRE_MESSAGE(*peer.outcome, (*peer.outcome ? "" : peer.outcome->error().detail));
    CHECK((*peer.outcome)->group.size() == 4);
    CHECK((*peer.outcome)->fraction_averaged == 1.0);
    CHECK(peer.took < 20s);
    CHECK(peer.values.back() == doctest::Approx(2.0 + 0.01 * (199'999 % 97)));
  }
}
