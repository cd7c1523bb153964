// SPDX-License-Identifier: MIT
// Who comes with nothing good: impossible weights, invented peers, another model.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/averaging/gather.hpp"
#include "core/averaging/messages.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/rpc/rpc.hpp"

#include "tests/unit/optim/checks.hpp"
#include "tests/unit/optim/lies.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

/// A member written by hand, as a client: asks everybody to let it in, then sends one part with
/// this weight to every member. Again and again.
Co<void> bad_weights(OptimSwarm& swarm,
                     OptimSwarm::Peer& liar,
                     Peers honest,
                     double weight,
                     float value,
                     std::size_t& sent) {
  std::string const service = "toy_grad_averager::GradientAverager.";
  auto const schema = honest[0]->trainer->facts().parameters;
  auto const numel = averaging::total_numel(schema);
  for (std::size_t turn = 0;; ++turn) {
    auto const slept = co_await swarm.world.sleep_for(20ms);
    if (!slept) co_return;
    auto const deadline = swarm.world.now() + 20s;
    auto const leader = honest[turn % honest.size()]->host->self();
    auto joined = co_await net::rpc::ClientCall::open(
        *liar.host, leader, service + "rpc_join_group", deadline);
    if (!joined) continue;
    averaging::JoinRequest request;
    auto const hash = averaging::schema_hash(schema);
    request.schema_hash = to_bytes(ByteView(hash));
    request.expiration = liar.dht->time() + 100;
    averaging::Gather gather;
    gather.mode = averaging::PeerMode::client;
    request.gather = gather.encode();
    request.client_mode = true;
    request.group_key = "toy_grad_averager.0b";
    auto const bytes = averaging::encode(request);
    (void)co_await (*joined)->send(bytes, deadline);
    (void)co_await (*joined)->finish(deadline);
    auto const first = co_await (*joined)->receive(deadline);
    if (!first || !*first) continue;
    auto const accepted = averaging::parse_message_from_leader(**first);
    if (!accepted || accepted->code != averaging::MessageCode::accepted) continue;
    auto const second = co_await (*joined)->receive(deadline);
    if (!second || !*second) continue;
    auto const begin = averaging::parse_message_from_leader(**second);
    if (!begin || begin->code != averaging::MessageCode::begin_allreduce) continue;
    std::vector<float> const part(numel, value);
    averaging::TensorHeader header;
    header.size = {static_cast<std::uint32_t>(numel)};
    for (auto const& member : begin->ordered_peer_ids) {
      if (member == liar.host->self()) continue;
      auto call = co_await net::rpc::ClientCall::open(
          *liar.host, member, service + "rpc_aggregate_part", deadline);
      if (!call) continue;
      auto const head = averaging::averaging_head(averaging::MessageCode::part_for_averaging,
                                                  begin->group_id,
                                                  weight,
                                                  header,
                                                  4 * part.size());
      auto const out = co_await (*call)->send(head, std::as_bytes(std::span(part)), deadline);
      if (!out) continue;
      ++sent;
      (void)co_await (*call)->finish(deadline);
      (void)co_await (*call)->receive(swarm.world.now() + 2s);
    }
  }
}

}  // namespace

TEST_CASE("strangers: a weight that is no weight, and values that are none, are refused") {
  struct Bad {
    char const* what;
    double weight;
    float value;
  };

  auto const nan = std::numeric_limits<double>::quiet_NaN();
  for (auto const& bad : variants(2,
                                  {Bad{"NaN", nan, 1},
                                   Bad{"a value of NaN", 10, std::nanf("")},
                                   Bad{"negative", -50, 1},
                                   Bad{"infinite", std::numeric_limits<double>::infinity(), 1},
                                   Bad{"1e30", 1e30, 1}})) {
    std::string const what = bad.what;
    CAPTURE(what);
    OptimSwarm swarm(60);
    auto const peers = start_all(swarm, 4, logistic());
    REQUIRE(swarm.run_until_epoch(peers, 5, 60s));
    auto& liar = swarm.add_bare();
    std::size_t sent = 0;
    liar.scope->spawn("liar", bad_weights(swarm, liar, peers, bad.weight, bad.value, sent));
    auto const from = peers[0]->optimizer->status().epoch;
    CHECK(swarm.run_until_epoch(peers, from + 25, 120s));
    CHECK(sent > 0);
    std::size_t banned = 0;
    for (auto* p : peers) {
      CHECK(p->trainer->test_loss() < 0.4);
      CHECK(slow_epochs(*p, from, 2s) <= 1);
      for (auto const& r : p->reports) {
        if (!r.gradients) continue;
        for (auto const& b : r.gradients->banned) banned += b == liar.host->self() ? 1 : 0;
        for (double const w : r.gradients->weights) CHECK(w <= 128);
        if (r.epoch > from) CHECK(r.averaged);
      }
    }
    CHECK(banned > 0);
    CHECK(spread(peers) < 1e-3);
    check_clean(peers);
    swarm.world.run(liar.scope->close());
  }
}

namespace {

Co<void> invent(OptimSwarm& swarm, OptimSwarm::Peer& liar, std::int64_t epoch) {
  for (std::size_t i = 0; i < 10; ++i) {
    auto const& key = record_key(4 + i);
    std::shared_ptr<crypto::RecordKey const> const borrowed(std::shared_ptr<void>(), &key);
    auto const signing = liar.dht->add_validator(std::make_shared<dht::RsaValidator>(borrowed));
    optim::LocalProgress p{sim::peer(500 + i), epoch, 60, 200, liar.dht->time(), false};
    dht::Record record;
    record.key = dht::Id::of_text("toy_progress");
    record.subkey = optim::progress_subkey(key.openssh_public());
    record.value = p.to_msgpack().encode();
    record.expiration = p.time + 60;
    (void)co_await liar.dht->store(std::move(record), swarm.world.now() + 5s);
    for (char const* averager : {"toy_grad_averager.0b", "toy_state_averager.0b"}) {
      dht::Record declaration;
      declaration.key = dht::Id::of_text(averager);
      declaration.subkey = wire::Msgpack(to_bytes(sim::peer(500 + i).bytes())).encode();
      declaration.value = wire::Msgpack(true).encode();
      declaration.expiration = liar.dht->time() + 10;
      (void)co_await liar.dht->store(std::move(declaration), swarm.world.now() + 5s);
    }
  }
}

}  // namespace

TEST_CASE("strangers: ten invented peers slow one epoch at most") {
  // Dials that nobody answers, or refused ones.
  for (bool const answering : variants(1, {false, true})) {
    CAPTURE(answering);
    auto links = sim::links::lan();
    links.dead_hosts_refuse = answering;
    OptimSwarm swarm(61, links);
    auto const peers = start_all(swarm, 4, logistic());
    for (std::size_t i = 0; i < 10; ++i) sim::MemoryHost gone(swarm.network, sim::peer(500 + i));
    REQUIRE(swarm.run_until_epoch(peers, 6, 60s));
    auto& liar = swarm.add_bare();
    auto const from = peers[0]->optimizer->status().epoch;
    auto const usual = median_epoch(*peers[0]);
    for (int again = 0; again < 3; ++again) {
      swarm.world.run(invent(swarm, liar, peers[0]->optimizer->status().epoch));
      swarm.run_for(4s);
    }
    CHECK(peers[0]->optimizer->status().epoch > from + 10);
    for (auto* p : peers) {
      CHECK(slow_epochs(*p, from, 1s) <= 1);
      CHECK(median_epoch(*p, from) <= usual + 50ms);
      CHECK(p->reports.back().gradients->group.size() == 4);
    }
    check_clean(peers);
  }
}

TEST_CASE("strangers: a peer with another model is refused in plain words, and disturbs nobody") {
  OptimSwarm swarm(62);
  auto const peers = start_all(swarm, 4, logistic());
  REQUIRE(swarm.run_until_epoch(peers, 6, 60s));
  auto const usual = median_epoch(*peers[0]);
  auto& other = swarm.add(wide(2, 11));
  swarm.start(other);
  auto const from = peers[0]->optimizer->status().epoch;
  swarm.run_for(20s);
  CHECK(peers[0]->optimizer->status().epoch > from + 30);
  for (auto* p : peers) {
    CHECK(slow_epochs(*p, from, 1s) <= 1);
    CHECK(median_epoch(*p, from) <= usual + 50ms);
    for (auto const& r : p->reports)
      if (r.epoch > 2) CHECK(r.gradients->group.size() == 4);
  }
  CHECK(spread(peers) < 1e-3);
  check_clean(peers);
  auto const status = other.optimizer->status();
  std::string said = status.phase;
  for (auto const& line : status.ignored_peers) said += "; " + line;
  MESSAGE("it is told: ", said);
  CHECK(said.find("another model") != std::string::npos);
}
