// SPDX-License-Identifier: MIT
#include "core/dht/dht.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/messages.hpp"
#include "core/dht/rsa_validator.hpp"
#include "core/dht/value.hpp"
#include "core/net/rpc/rpc.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/unit/dht/swarm.hpp"

using namespace waggle;
using namespace waggle::dht;
using namespace std::chrono_literals;
using waggle::test::DhtNode;
using waggle::test::DhtSwarm;

namespace {

Bytes packed(wire::Msgpack value) {
  return value.encode();
}

Record regular(std::string_view key, std::string_view value, double expiration) {
  return {Id::of_text(key), std::nullopt, packed(value), expiration};
}

Record entry(std::string_view key,
             std::string_view subkey,
             std::string_view value,
             double expiration) {
  return {Id::of_text(key), packed(subkey), packed(value), expiration};
}

Co<void> bootstrap(DhtNode& node, std::vector<PeerId> peers, Duration patience, Status& outcome) {
  TimePoint const deadline = node.host.runtime().now() + patience;
  outcome = co_await node.dht.bootstrap(std::move(peers), deadline);
}

Co<void> store_all(DhtNode& node, std::vector<Record> records, Result<std::vector<bool>>& outcome) {
  TimePoint const deadline = node.host.runtime().now() + 20s;
  outcome = co_await node.dht.store_many(std::move(records), deadline);
}

Co<void> store_one(DhtNode& node, Record record, Result<bool>& outcome) {
  TimePoint const deadline = node.host.runtime().now() + 20s;
  outcome = co_await node.dht.store(std::move(record), deadline);
}

Co<void> get_all(DhtNode& node,
                 std::vector<Id> keys,
                 Freshness freshness,
                 Result<std::vector<Found>>& outcome) {
  TimePoint const deadline = node.host.runtime().now() + 20s;
  outcome = co_await node.dht.get_many(std::move(keys), freshness, deadline);
}

Co<void> call(
    sim::MemoryHost& host, PeerId peer, std::string name, Bytes request, Result<Bytes>& outcome) {
  TimePoint const deadline = host.runtime().now() + 5s;
  outcome = co_await net::rpc::call_unary(host, peer, name, request, deadline);
}

std::size_t holders(DhtSwarm const& swarm) {
  std::size_t n = 0;
  for (auto const& node : swarm.nodes)
    n += node->host.alive() && node->dht.stored_records() > 0 ? 1 : 0;
  return n;
}

/// A peer that answers every DHT call with whatever `answer` makes of it.
class Liar {
 public:
  Liar(sim::MemoryNetwork& network,
       std::uint64_t n,
       std::function<Result<Bytes>(std::string_view, ByteView)> answer)
      : host(network, sim::peer(n)), answer_(std::move(answer)) {
    for (std::string const name :
         {"DHTProtocol.rpc_ping", "DHTProtocol.rpc_store", "DHTProtocol.rpc_find"})
      served_.push_back(net::rpc::serve_unary(host, name, [this, name](PeerId, Bytes request) {
        return reply(this, name, std::move(request));
      }));
  }

  static Co<void> close(Liar& liar) { co_await liar.host.close(); }

  sim::MemoryHost host;

 private:
  static Co<Result<Bytes>> reply(Liar* liar, std::string name, Bytes request) {
    co_return liar->answer_(name, request);
  }

  std::function<Result<Bytes>(std::string_view, ByteView)> answer_;
  std::vector<net::Registration> served_;
};

Id liars_id() {
  return Id::of_text("liar");
}

}  // namespace

TEST_CASE("what one of fifty nodes stores, every other one finds") {
  DhtSwarm swarm;
  swarm.grow(50);
  for (auto const& node : swarm.nodes) CHECK(node->dht.table_size() >= 20);
  double const end = swarm.world.unix_time() + 600;
  CHECK(swarm.store(7, regular("hive", "honey", end)));
  CHECK(holders(swarm) >= 5);
  for (std::size_t i = 0; i < 50; i += 3) {
    auto const found = swarm.get(i, Id::of_text("hive"));
    REQUIRE(found.regular);
    CHECK(found.regular->value == packed("honey"));
    CHECK(found.regular->expiration == end);
  }
  CHECK(swarm.get(3, Id::of_text("nothing here")).empty());
}

namespace {

Co<void> get_one(DhtNode& node, Id key, Freshness freshness, Result<Found>& outcome) {
  TimePoint const deadline = node.host.runtime().now() + 20s;
  outcome = co_await node.dht.get(key, freshness, deadline);
}

// `count` gets of one key that begin together; those before `cancelled` are cancelled after 1 ms.
Co<void> get_together(DhtNode& node, std::size_t cancelled, std::vector<Result<Found>>& outcomes) {
  Runtime& runtime = node.host.runtime();
  Scope leaving(runtime);
  Scope staying(runtime);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    (i < cancelled ? leaving : staying)
        .spawn("get", get_one(node, Id::of_text("hive"), Freshness::latest, outcomes[i]));
  (void)co_await runtime.sleep_for(1ms);
  co_await leaving.close();
  (void)co_await staying.join();
}

}  // namespace

TEST_CASE("gets of one key that come together share a search, also when the first of them leaves") {
  DhtSwarm swarm;
  swarm.grow(30);
  CHECK(swarm.store(7, regular("hive", "honey", swarm.world.unix_time() + 600)));
  auto& node = *swarm.nodes[20];
  for (std::size_t const cancelled : {0u, 1u}) {
    std::vector<Result<Found>> outcomes(6, Error{Errc::io, ""});
    auto const before = node.dht.counters().searches;
    swarm.world.run(get_together(node, cancelled, outcomes));
    CHECK(node.dht.counters().searches - before == 1 + cancelled);
    for (std::size_t i = cancelled; i < outcomes.size(); ++i) {
      REQUIRE(outcomes[i]);
      REQUIRE(outcomes[i]->regular);
      CHECK(outcomes[i]->regular->value == packed("honey"));
    }
  }
}

TEST_CASE("a get sees what was stored here before it, though an older get is still under way") {
  DhtSwarm swarm;
  swarm.grow(30);
  double const now = swarm.world.unix_time();
  CHECK(swarm.store(7, regular("hive", "old", now + 600)));
  auto& node = *swarm.nodes[20];
  Result<Found> first = Error{Errc::io, ""};
  Result<bool> stored = Error{Errc::io, ""};
  Scope scope(swarm.world);
  scope.spawn("get", get_one(node, Id::of_text("hive"), Freshness::latest, first));
  scope.spawn("store", store_one(node, regular("hive", "new", now + 700), stored));
  swarm.world.run_for(10s);
  CHECK(scope.size() == 0);
  CHECK(stored.has_value());
  CHECK(swarm.get(20, Id::of_text("hive")).regular->value == packed("new"));
}

TEST_CASE("a record is gone everywhere when it ends") {
  DhtSwarm swarm;
  swarm.grow(20);
  CHECK(swarm.store(1, regular("k", "v", swarm.world.unix_time() + 30)));
  CHECK(swarm.get(2, Id::of_text("k")).regular);
  CHECK(swarm.get(2, Id::of_text("k"), Freshness::any).regular);
  swarm.world.run_for(31s);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(swarm.get(i, Id::of_text("k"), Freshness::any).empty());
  for (auto const& node : swarm.nodes) CHECK(node->dht.stored_bytes() == 0);
}

TEST_CASE("entries of several writers merge into one dictionary, the later end of each") {
  DhtSwarm swarm;
  swarm.grow(30);
  double const now = swarm.world.unix_time();
  CHECK(swarm.store(1, entry("d", "a", "old", now + 100)));
  CHECK(swarm.store(2, entry("d", "b", "two", now + 50)));
  CHECK(swarm.store(3, entry("d", "a", "new", now + 200)));
  CHECK_FALSE(swarm.store(4, entry("d", "a", "late", now + 150)));
  auto const found = swarm.get(20, Id::of_text("d"));
  REQUIRE(found.dictionary);
  CHECK(found.dictionary->size() == 2);
  CHECK(found.dictionary->at(packed("a")) == Timed{packed("new"), now + 200});
  CHECK(found.dictionary->at(packed("b")) == Timed{packed("two"), now + 50});
  swarm.world.run_for(60s);
  CHECK(swarm.get(21, Id::of_text("d")).dictionary->size() == 1);
}

TEST_CASE("many records travel in one search, and each has its verdict") {
  DhtSwarm swarm;
  swarm.grow(30);
  double const now = swarm.world.unix_time();
  std::vector<Record> records;
  std::vector<Id> keys;
  for (int i = 0; i < 40; ++i) {
    records.push_back(regular(cat("key ", i), cat("value ", i), now + 100 + i));
    keys.push_back(records.back().key);
  }
  records.push_back(regular("far", "v", now + 25 * 3600));  // refused by every Waggle node
  Result<std::vector<bool>> stored = Error{Errc::io, ""};
  swarm.world.run(store_all(*swarm.nodes[4], records, stored));
  REQUIRE(stored);
  REQUIRE(stored->size() == 41);
  CHECK(std::count(stored->begin(), stored->end(), true) == 40);
  CHECK_FALSE(stored->back());
  auto const calls = swarm.nodes[9]->dht.counters().calls;
  Result<std::vector<Found>> found = Error{Errc::io, ""};
  swarm.world.run(get_all(*swarm.nodes[9], keys, Freshness::latest, found));
  REQUIRE(found);
  for (int i = 0; i < 40; ++i) {
    REQUIRE((*found)[static_cast<std::size_t>(i)].regular);
    CHECK((*found)[static_cast<std::size_t>(i)].regular->value == packed(cat("value ", i)));
  }
  CHECK(swarm.nodes[9]->dht.counters().calls - calls < 40u * 20u);
}

TEST_CASE("records survive the death of most of their holders, and the dead are forgotten") {
  DhtSwarm swarm;
  swarm.grow(40);
  double const end = swarm.world.unix_time() + 3600;
  CHECK(swarm.store(5, regular("k", "v", end)));
  std::size_t killed = 0;
  for (std::size_t i = 6; i < 40 && killed < 4; ++i)
    if (swarm.nodes[i]->dht.stored_records() > 0) {
      swarm.kill(i);
      ++killed;
    }
  for (std::size_t i = 10; i < 20; ++i) swarm.kill(i);
  for (std::size_t i = 0; i < 5; ++i) CHECK(swarm.get(i, Id::of_text("k")).regular);
  swarm.world.run_for(12min);
  for (std::size_t i = 0; i < 5; ++i)
    for (auto const& peer : swarm.nodes[i]->dht.nearest(Id::of_text("k"), 20)) {
      auto const* host = swarm.network.find(peer);
      CHECK(host != nullptr);
    }
}

TEST_CASE("a newcomer near a key is handed the record") {
  DhtSwarm swarm;
  swarm.grow(8);
  double const end = swarm.world.unix_time() + 3600;
  std::vector<Record> records;
  for (int i = 0; i < 30; ++i) records.push_back(regular(cat("key ", i), "v", end));
  Result<std::vector<bool>> stored = Error{Errc::io, ""};
  swarm.world.run(store_all(*swarm.nodes[0], records, stored));
  swarm.grow(20);
  swarm.world.run_for(10s);
  std::uint64_t handed = 0;
  for (auto const& node : swarm.nodes) handed += node->dht.counters().handed_over;
  CHECK(handed > 0);
  // All of the first eight leave; what was handed over is still there.
  for (std::size_t i = 0; i < 8; ++i) swarm.kill(i);
  std::size_t found = 0;
  for (auto const& record : records) found += swarm.get(20, record.key).regular ? 1 : 0;
  CHECK(found >= 27);
}

TEST_CASE("a client reads and writes, holds nothing for others and stands in nobody's table") {
  DhtSwarm swarm;
  swarm.grow(10);
  Options options;
  options.client_mode = true;
  swarm.grow(1, options);
  auto& client = *swarm.nodes.back();
  CHECK(client.host.protocols().empty());
  CHECK(swarm.store(10, regular("k", "v", swarm.world.unix_time() + 60)));
  CHECK(swarm.get(4, Id::of_text("k")).regular);
  CHECK(swarm.get(10, Id::of_text("k")).regular);
  for (std::size_t i = 0; i < 10; ++i)
    for (auto const& peer : swarm.nodes[i]->dht.nearest(Id{}, 50))
      CHECK(peer != client.host.self());
  // Nobody else there: a client cannot keep anything itself.
  DhtSwarm alone;
  alone.grow(1, options);
  CHECK_FALSE(alone.store(0, regular("k", "v", alone.world.unix_time() + 60)));
}

TEST_CASE("a node alone keeps its own records") {
  DhtSwarm swarm;
  swarm.grow(1);
  CHECK(swarm.store(0, regular("k", "v", swarm.world.unix_time() + 60)));
  CHECK(swarm.get(0, Id::of_text("k")).regular);
}

TEST_CASE("bootstrap with dead peers names each of them, and works again later") {
  DhtSwarm swarm;
  auto& node = swarm.add();
  Status outcome = ok();
  swarm.world.run(bootstrap(node, {sim::peer(77), sim::peer(78)}, 5s, outcome));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::not_found);
  for (auto const n : {77u, 78u})
    CHECK(outcome.error().detail.find(crypto::to_text(sim::peer(n))) != std::string::npos);
  // One of them comes up.
  DhtNode late(swarm.network, 78, {});
  swarm.world.run(bootstrap(node, {sim::peer(77), sim::peer(78)}, 20s, outcome));
  CHECK(outcome);
  CHECK(node.dht.table_size() == 1);
  CHECK(late.dht.table_size() == 1);
  swarm.world.run(late.dht.close());
  swarm.world.run(late.host.close());
}

TEST_CASE("nobody to ask is no failure") {
  DhtSwarm swarm;
  auto& node = swarm.add();
  Status outcome = Error{Errc::io, ""};
  swarm.world.run(bootstrap(node, {}, 5s, outcome));
  CHECK(outcome);
  swarm.world.run(bootstrap(node, {node.host.self()}, 5s, outcome));
  CHECK(outcome);
}

TEST_CASE("values signed for one owner cannot be written by another") {
  DhtSwarm swarm;
  swarm.grow(12);
  auto const owner = std::make_shared<RsaValidator>(
      std::make_shared<crypto::RecordKey const>(crypto::RecordKey::generate()));
  auto const registration = swarm.nodes[2]->dht.add_validator(owner);
  double const now = swarm.world.unix_time();
  Record const record{
      Id::of_text("run_progress"), packed(to_bytes(owner->owner_mark())), packed(1), now + 60};
  CHECK(swarm.store(2, record));
  Record forged = record;
  forged.expiration = now + 120;
  Result<bool> outcome = true;
  swarm.world.run(store_one(*swarm.nodes[3], forged, outcome));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::refused);
  auto const found = swarm.get(7, record.key);
  REQUIRE(found.dictionary);
  CHECK(found.dictionary->at(*record.subkey) ==
        Timed{packed(1), now + 60});  // the signature is stripped
}

TEST_CASE("answers that are senseless cost nothing but their own") {
  DhtSwarm swarm;
  swarm.grow(20);
  double const now = swarm.world.unix_time();
  CHECK(swarm.store(1, regular("k", "v", now + 100)));
  std::vector<std::unique_ptr<Liar>> liars;
  int const kinds = 6;
  for (int kind = 0; kind < kinds; ++kind) {
    auto answer = [kind, &swarm](std::string_view name, ByteView request) -> Result<Bytes> {
      Id id = liars_id();
      id.bytes[0] = static_cast<std::byte>(kind * 40);
      if (name.ends_with("ping")) return PingResponse{id, 1e300, true}.encode();
      if (name.ends_with("store")) return StoreResponse{id, std::vector<bool>(5000, true)}.encode();
      if (kind == 0) return Bytes(1000, std::byte{0xff});
      if (kind == 1) return Error{Errc::refused, "no"};
      FindResponse response;
      response.node = id;
      if (kind == 2) return response.encode();  // no results
      auto const find = FindRequest::decode(request);
      if (!find) return Bytes{};
      for (auto const& key : find->keys) {
        FindResult result;
        result.type = kind == 3 ? FindResult::Type::dictionary : FindResult::Type::regular;
        result.value = Bytes(100, std::byte{0xdd});
        result.expiration = kind == 4 ? std::numeric_limits<double>::infinity() : 1.0;
        for (int i = 0; i < 100; ++i) {  // invented, all near the key, all ourselves or nobody
          Contact c{key, sim::peer(static_cast<std::uint64_t>(kind == 5 ? 900 + i : 1))};
          swarm.world.fill_random(MutableBytes(c.id.bytes).subspan(4));
          result.nearest.push_back(c);
        }
        response.results.push_back(std::move(result));
      }
      return response.encode();
    };
    liars.push_back(
        std::make_unique<Liar>(swarm.network, 500 + static_cast<std::uint64_t>(kind), answer));
    // It introduces itself to everybody.
    for (auto const& node : swarm.nodes) {
      Id id = liars_id();
      id.bytes[0] = static_cast<std::byte>(kind * 40);
      Result<Bytes> pong = Error{Errc::io, ""};
      swarm.world.run(call(liars.back()->host,
                           node->host.self(),
                           "DHTProtocol.rpc_ping",
                           PingRequest{id, true}.encode(),
                           pong));
      REQUIRE(pong);
      CHECK(PingResponse::decode(*pong)->available);
    }
  }
  for (std::size_t i = 0; i < 20; ++i) {
    auto const found = swarm.get(i, Id::of_text("k"));
    REQUIRE(found.regular);
    CHECK(found.regular->value == packed("v"));
  }
  CHECK(swarm.store(3, regular("another", "v", now + 100)));
  CHECK(swarm.get(4, Id::of_text("another")).regular);
  CHECK(swarm.nodes[5]->dht.time() == doctest::Approx(swarm.world.unix_time()).epsilon(1e-12));
  for (auto& liar : liars) swarm.world.run(Liar::close(*liar));
}

TEST_CASE("a flood of records is bounded by the sender's quota and disturbs nobody else's") {
  DhtSwarm swarm;
  swarm.grow(6);
  double const now = swarm.world.unix_time();
  CHECK(swarm.store(1, regular("k", "v", now + 1000)));
  sim::MemoryHost flooder(swarm.network, sim::peer(666));
  std::uint64_t taken = 0;
  for (int round = 0; round < 20; ++round) {
    StoreRequest request;
    for (int i = 0; i < 60; ++i)
      request.items.push_back({Id::of_text(cat("flood ", round, " ", i)),
                               to_bytes(regular_tag()),
                               Bytes(60'000),
                               now + 80'000,
                               false});
    Result<Bytes> answer = Error{Errc::io, ""};
    swarm.world.run(call(
        flooder, swarm.nodes[2]->host.self(), "DHTProtocol.rpc_store", request.encode(), answer));
    REQUIRE(answer);
    auto const response = StoreResponse::decode(*answer);
    taken += static_cast<std::uint64_t>(
        std::count(response->store_ok.begin(), response->store_ok.end(), true));
  }
  CHECK(taken < 200);
  CHECK(swarm.nodes[2]->dht.stored_bytes() < 10u << 20);
  CHECK(swarm.nodes[2]->dht.counters().records_refused > 1000);
  CHECK(swarm.get(2, Id::of_text("k")).regular);
  swarm.world.run(flooder.close());
}

TEST_CASE("a peer that changes its id with every call does not fill the table or draw handovers") {
  DhtSwarm swarm;
  swarm.grow(3);
  CHECK(swarm.store(1, regular("k", "v", swarm.world.unix_time() + 1000)));
  sim::MemoryHost shifty(swarm.network, sim::peer(666));
  auto const before = swarm.nodes[1]->dht.counters().handed_over;
  for (int i = 0; i < 60; ++i) {
    FindRequest request;
    request.node = Id::of_text(cat("id ", i));
    Result<Bytes> answer = Error{Errc::io, ""};
    swarm.world.run(call(
        shifty, swarm.nodes[1]->host.self(), "DHTProtocol.rpc_find", request.encode(), answer));
  }
  CHECK(swarm.nodes[1]->dht.table_size() <= 3);
  CHECK(swarm.nodes[1]->dht.counters().handed_over - before <= 1);
  swarm.world.run(shifty.close());
}

TEST_CASE("calls that do not parse are counted and answered with an error") {
  DhtSwarm swarm;
  swarm.grow(2);
  sim::MemoryHost other(swarm.network, sim::peer(666));
  for (auto const* name :
       {"DHTProtocol.rpc_ping", "DHTProtocol.rpc_store", "DHTProtocol.rpc_find"}) {
    Result<Bytes> answer = Bytes{};
    swarm.world.run(
        call(other, swarm.nodes[0]->host.self(), name, Bytes(30, std::byte{0xff}), answer));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == Errc::refused);
  }
  CHECK(swarm.nodes[0]->dht.counters().malformed == 3);
  swarm.world.run(other.close());
}

TEST_CASE("a ping says whether the caller can be called back") {
  DhtSwarm swarm;
  swarm.grow(2);
  sim::MemoryHost deaf(swarm.network, sim::peer(666));  // serves nothing
  Result<Bytes> answer = Error{Errc::io, ""};
  Id const id = Id::of_text("deaf");
  auto const size = swarm.nodes[0]->dht.table_size();
  swarm.world.run(call(deaf,
                       swarm.nodes[0]->host.self(),
                       "DHTProtocol.rpc_ping",
                       PingRequest{id, true}.encode(),
                       answer));
  REQUIRE(answer);
  auto const pong = PingResponse::decode(*answer);
  REQUIRE(pong);
  CHECK_FALSE(pong->available);
  CHECK(pong->node == swarm.nodes[0]->dht.id());
  CHECK(pong->dht_time == doctest::Approx(swarm.world.unix_time()));
  CHECK(swarm.nodes[0]->dht.table_size() == size);
  swarm.world.run(deaf.close());
}

TEST_CASE(
    "a node finds out how far its clock is off, and its records live as long as they should") {
  DhtSwarm swarm;
  // Peers whose clocks are 500 s ahead of the world's, that is of ours.
  std::vector<std::unique_ptr<Liar>> peers;
  std::vector<PeerId> ids;
  for (std::uint64_t n = 100; n < 104; ++n) {
    Id const id = Id::of_text(cat("node ", n));
    peers.push_back(std::make_unique<Liar>(
        swarm.network, n, [id, &swarm](std::string_view name, ByteView request) -> Result<Bytes> {
          if (name.ends_with("ping"))
            return PingResponse{id, swarm.world.unix_time() + 500, true}.encode();
          FindResponse response;
          response.node = id;
          response.results.resize(FindRequest::decode(request)->keys.size());
          return response.encode();
        }));
    ids.push_back(sim::peer(n));
  }
  auto& node = swarm.add();
  Status outcome = ok();
  swarm.world.run(bootstrap(node, {ids[0], ids[1]}, 10s, outcome));
  CHECK(outcome);
  CHECK(node.dht.clock_samples() == 2);
  CHECK(node.dht.clock_offset() == 0);
  swarm.world.run(bootstrap(node, ids, 10s, outcome));
  CHECK(node.dht.clock_samples() == 4);
  CHECK(node.dht.clock_offset() == doctest::Approx(500).epsilon(0.001));
  CHECK(node.dht.time() == doctest::Approx(swarm.world.unix_time() + 500));
  for (auto& peer : peers) swarm.world.run(Liar::close(*peer));
}

TEST_CASE("a found value is kept near and asked for again before it ends") {
  DhtSwarm swarm;
  swarm.grow(30);
  double const now = swarm.world.unix_time();
  CHECK(swarm.store(1, regular("k", "v1", now + 60)));
  std::size_t reader = 2;
  while (swarm.nodes[reader]->dht.stored_records() > 0) ++reader;
  CHECK(swarm.get(reader, Id::of_text("k"), Freshness::any).regular);
  CHECK(swarm.nodes[reader]->dht.stored_records() == 1);
  // From the cache, without a call.
  auto const calls = swarm.nodes[reader]->dht.counters().calls;
  CHECK(swarm.get(reader, Id::of_text("k"), Freshness::any).regular);
  CHECK(swarm.nodes[reader]->dht.counters().calls == calls);
  CHECK(swarm.store(1, regular("k", "v2", now + 600)));
  swarm.world.run_for(58s);  // the refresh has happened by now
  auto const found = swarm.get(reader, Id::of_text("k"), Freshness::any);
  REQUIRE(found.regular);
  CHECK(found.regular->value == packed("v2"));
}

TEST_CASE("cancelled and closed at any moment, nothing is left running") {
  for (int ms = 0; ms < 40; ms += 8) {
    DhtSwarm swarm(static_cast<std::uint64_t>(ms) + 1, sim::links::residential());
    swarm.grow(5);
    auto& node = swarm.add();
    Scope scope(swarm.world);
    Status joined = ok();
    Result<bool> stored = true;
    Result<std::vector<Found>> got = Error{Errc::io, ""};
    scope.spawn("bootstrap", bootstrap(node, {swarm.nodes[0]->host.self()}, 20s, joined));
    scope.spawn(
        "store",
        store_one(*swarm.nodes[1], regular("k", "v", swarm.world.unix_time() + 60), stored));
    scope.spawn("get", get_all(*swarm.nodes[2], {Id::of_text("k")}, Freshness::latest, got));
    swarm.world.run_for(std::chrono::milliseconds(ms * 10));
    swarm.world.run([](Scope& s) -> Co<void> { co_await s.close(); }(scope));
    CHECK(scope.size() == 0);
  }
}

TEST_CASE("the same seed makes the same swarm, event for event") {
  auto const run = [] {
    DhtSwarm swarm(5, sim::links::residential());
    swarm.grow(15);
    (void)swarm.store(3, regular("k", "v", swarm.world.unix_time() + 60));
    (void)swarm.get(9, Id::of_text("k"));
    swarm.world.run_for(10min);
    return swarm.world.trace_hash();
  };
  CHECK(run() == run());
}
