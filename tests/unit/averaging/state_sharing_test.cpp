// SPDX-License-Identifier: MIT
#include "core/averaging/state_sharing.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/averaging/state_native.hpp"
#include "core/averaging/state_stream.hpp"
#include "core/base/scope.hpp"
#include "core/net/rpc/rpc.hpp"

#include "tests/unit/averaging/swarm.hpp"

using namespace waggle;
using namespace waggle::averaging;
using namespace std::chrono_literals;

namespace {

Schema const kSchema{{{300, 400}, true}, {{}, false}, {{7}, false}};

std::shared_ptr<StateSnapshot> snapshot(std::int64_t epoch) {
  auto state = std::make_shared<StateSnapshot>();
  state->epoch = epoch;
  state->schema = kSchema;
  state->values.resize(total_numel(kSchema));
  for (std::size_t i = 0; i < state->values.size(); ++i)
    state->values[i] = static_cast<float>(i) * 0.5F + static_cast<float>(epoch);
  state->optimizer_metadata =
      wire::Msgpack(wire::Msgpack::Array{wire::Msgpack(1), wire::Msgpack(0.9)});
  state->test_loss = 1.25;
  state->has_test_loss = true;
  return state;
}

struct Sharing {
  test::Swarm swarm;
  std::vector<std::unique_ptr<StateSharing>> sharing;

  explicit Sharing(std::size_t n, sim::Links links = sim::links::lan())
      : swarm(1, std::move(links)) {
    StateSharingOptions options;
    options.prefix = "run_state_averager";
    for (std::size_t i = 0; i < n; ++i) {
      auto& peer = swarm.add_peer();
      sharing.push_back(
          std::make_unique<StateSharing>(*peer.host, *peer.dht, swarm.compute, options));
    }
  }

  Co<void> close() {
    for (auto& s : sharing) co_await s->close();
  }

  ~Sharing() { swarm.world.run(close()); }
};

}  // namespace

TEST_CASE(
    "StateSharing: a joiner finds the donor with the highest epoch and gets its state exactly") {
  Sharing s(3);
  s.sharing[1]->publish(snapshot(4));
  s.sharing[2]->publish(snapshot(9));
  s.swarm.world.run_for(5s);
  auto scenario = [](Sharing& sh) -> Co<void> {
    auto const deadline = sh.swarm.world.now() + 60s;
    auto const donors = co_await sh.sharing[0]->donors(deadline);
    REQUIRE(donors);
    REQUIRE(donors->size() == 2);
    CHECK((*donors)[0].priority == 9);
    CHECK((*donors)[0].peer == sh.swarm.peers[2]->host->self());
    std::uint64_t last = 0;
    std::function<void(std::uint64_t, std::uint64_t)> progress = [&last](std::uint64_t done,
                                                                         std::uint64_t total) {
      CHECK(done > last);
      CHECK(total == 4 * total_numel(kSchema));
      last = done;
    };
    auto const got =
        co_await sh.sharing[0]->download((*donors)[0].peer, kSchema, progress, deadline);
    REQUIRE_MESSAGE(got, (got ? "" : got.error().detail));
    CHECK(got->native);
    CHECK(got->state.epoch == 9);
    CHECK(got->state.values == snapshot(9)->values);
    CHECK(got->state.has_test_loss);
    CHECK(got->state.test_loss == 1.25);
    CHECK(got->state.optimizer_metadata == snapshot(9)->optimizer_metadata);
    CHECK(last == 4 * total_numel(kSchema));

    Schema other = kSchema;
    other[2].shape = {8};
    auto const wrong =
        co_await sh.sharing[0]->download((*donors)[0].peer, other, nullptr, deadline);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == Errc::malformed);
  };
  s.swarm.world.run(scenario(s));
}

namespace {

Co<void> over_rpc(Sharing& s, StateSnapshot& out, Status& outcome) {
  // As a hivemind peer asks: one empty request, tensors until the end.
  auto const deadline = s.swarm.world.now() + 60s;
  auto opened = co_await net::rpc::ClientCall::open(
      *s.swarm.peers[0]->host,
      s.swarm.peers[1]->host->self(),
      "run_state_averager::TrainingStateAverager.rpc_download_state",
      deadline);
  REQUIRE(opened);
  (void)co_await (*opened)->send(ByteView{}, deadline);
  (void)co_await (*opened)->finish(deadline);
  StateAssembler assembler(kSchema);
  for (;;) {
    auto const item = co_await (*opened)->receive(deadline);
    REQUIRE(item);
    if (!*item) break;
    auto const fed = assembler.feed(**item);
    REQUIRE(fed);
  }
  auto got = assembler.finish();
  if (got)
    out = *std::move(got);
  else
    outcome = got.error();
}

}  // namespace

TEST_CASE("StateSharing: serves hivemind's rpc_download_state, and ends it empty without a state") {
  Sharing s(2);
  StateSnapshot got;
  Status outcome = ok();
  s.swarm.world.run(over_rpc(s, got, outcome));
  CHECK_FALSE(outcome);
  s.sharing[1]->publish(snapshot(3));
  outcome = ok();
  s.swarm.world.run(over_rpc(s, got, outcome));
  REQUIRE(outcome);
  CHECK(got.epoch == 3);
  CHECK(got.values == snapshot(3)->values);
}

TEST_CASE("StateSharing: takes hivemind's call where the donor does not know ours") {
  Sharing s(1);
  auto& donor = s.swarm.add_peer();
  auto const state = snapshot(6);
  net::rpc::StreamHandler handler = [state](net::rpc::ServerCall& call) -> Co<Status> {
    auto serve = [](net::rpc::ServerCall& c, std::shared_ptr<StateSnapshot> st) -> Co<Status> {
      (void)co_await c.receive(kNoDeadline);
      auto metadata = encode_state_metadata(*st);
      std::size_t at = 0;
      for (auto const& tensor : st->schema) {
        auto const raw = std::as_bytes(std::span(st->values).subspan(at, tensor.numel()));
        auto const messages = split_tensor(metadata, tensor, compress::CompressionType::none, raw);
        for (auto const& m : messages) {
          auto const sent = co_await c.send(m.head, m.tail, kNoDeadline);
          if (!sent) co_return sent;
        }
        metadata.clear();
        at += tensor.numel();
      }
      co_return ok();
    };
    return serve(call, state);
  };
  auto const served = net::rpc::serve_stream(
      *donor.host, "run_state_averager::TrainingStateAverager.rpc_download_state", handler);
  auto scenario = [](Sharing& sh, PeerId from) -> Co<void> {
    auto const got =
        co_await sh.sharing[0]->download(from, kSchema, nullptr, sh.swarm.world.now() + 60s);
    REQUIRE_MESSAGE(got, (got ? "" : got.error().detail));
    CHECK_FALSE(got->native);
    CHECK(got->state.epoch == 6);
    CHECK(got->state.values == snapshot(6)->values);
  };
  s.swarm.world.run(scenario(s, donor.host->self()));
}

TEST_CASE("StateSharing: a state that stays is told ever more seldom, a new one at once") {
  Sharing s(2);
  auto& world = s.swarm.world;
  auto const listed = [&s, &world] {
    std::vector<StateSharing::Donor> found;
    auto look = [&s, &found](TimePoint deadline) -> Co<void> {
      auto const donors = co_await s.sharing[0]->donors(deadline);
      REQUIRE(donors);
      found = *donors;
    };
    world.run(look(world.now() + 5s));
    return found;
  };
  s.sharing[1]->publish(snapshot(4));
  auto const& counters = s.swarm.peers[0]->dht->counters();
  std::uint64_t told_first = 0;
  for (int look = 0; look < 60; ++look) {
    world.run_for(10s);
    CHECK(listed().size() == 1);
    if (look == 5) told_first = counters.stores_served;
  }
  // In the last nine minutes each 80 seconds, not each 20.
  auto const told = counters.stores_served - told_first;
  CHECK(told >= 6);
  CHECK(told <= 8);

  s.sharing[1]->publish(snapshot(5));
  world.run_for(1s);
  auto const now = listed();
  REQUIRE(now.size() == 1);
  CHECK(now[0].priority == 5);
  world.run(s.sharing[1]->close());
  CHECK(listed().empty());

  // Who comes back is listed at once, though the DHT remembers for long that it left.
  StateSharingOptions options;
  options.prefix = "run_state_averager";
  auto& peer = *s.swarm.peers[1];
  s.sharing[1] = std::make_unique<StateSharing>(*peer.host, *peer.dht, s.swarm.compute, options);
  s.sharing[1]->publish(snapshot(6));
  world.run_for(2s);
  CHECK(listed().size() == 1);
}

TEST_CASE("StateSharing: a download that breaks off resumes where it was, also across an epoch") {
  sim::Links links = sim::links::lan();
  links.bytes_per_second = 1'000'000;
  Sharing s(2, links);
  s.sharing[1]->publish(snapshot(1));
  s.swarm.world.run_for(3s);
  auto scenario = [](Sharing& sh) -> Co<void> {
    native::Request request;
    request.prefix = "run_state_averager";
    native::Partial partial;
    auto& host = *sh.swarm.peers[0]->host;
    auto const donor = sh.swarm.peers[1]->host->self();
    auto const cut = sh.swarm.world.now() + 300ms;
    auto first = co_await native::fetch(host, donor, request, kSchema, partial, nullptr, 15s, cut);
    REQUIRE_FALSE(first);
    auto const before = partial.done;
    CHECK(before > 0);
    CHECK(before < 4 * total_numel(kSchema));
    sh.sharing[1]->publish(snapshot(2));  // training went on meanwhile
    auto const slept = co_await sh.swarm.world.sleep_for(1s);
    REQUIRE(slept);
    auto second =
        co_await native::fetch(host, donor, request, kSchema, partial, nullptr, 15s, kNoDeadline);
    REQUIRE_MESSAGE(second, (second ? "" : second.error().detail));
    CHECK(partial.header->epoch == 1);
    CHECK(partial.values == snapshot(1)->values);
    // Two epochs later it is gone.
    native::Partial stale = partial;
    stale.done = 8;
    sh.sharing[1]->publish(snapshot(3));
    auto const slept2 = co_await sh.swarm.world.sleep_for(1s);
    REQUIRE(slept2);
    auto third =
        co_await native::fetch(host, donor, request, kSchema, stale, nullptr, 15s, kNoDeadline);
    CHECK_FALSE(third);
  };
  s.swarm.world.run(scenario(s));
}

TEST_CASE(
    "StateAssembler: refuses other shapes, more than was announced, values that are not finite") {
  auto const feed =
      [](TensorSpec const& tensor, Bytes const& raw, std::size_t messages = 100) -> Status {
    StateAssembler assembler({{{4}, false}});
    std::size_t n = 0;
    for (auto const& m : split_tensor(
             encode_state_metadata(*snapshot(1)), tensor, compress::CompressionType::none, raw)) {
      if (n++ >= messages) break;
      auto item = m.head;
      append(item, m.tail);
      WAGGLE_TRY_STATUS(assembler.feed(item));
    }
    auto const done = assembler.finish();
    if (!done) return done.error();
    return ok();
  };
  CHECK(feed({{4}, false}, Bytes(16)));
  CHECK_FALSE(feed({{5}, false}, Bytes(20)));
  CHECK_FALSE(feed({{2, 2}, false}, Bytes(16)));
  CHECK_FALSE(feed({{4}, false}, Bytes(12)));
  CHECK_FALSE(feed({{4}, false}, Bytes(1 << 20)));
  Bytes nan(16);
  store_le(MutableBytes(nan), std::nanf(""));
  CHECK_FALSE(feed({{4}, false}, nan));
  StateAssembler empty({{{4}, false}});
  CHECK_FALSE(empty.finish());
}

TEST_CASE("native::parse_header: bounded, and answer() gives only what was asked for") {
  native::Header header;
  header.schema = kSchema;
  header.test_loss = 0.5;
  header.epoch = 3;
  auto const parsed = native::parse_header(native::encode(header));
  REQUIRE(parsed);
  CHECK(parsed->schema == kSchema);
  CHECK(parsed->test_loss == 0.5);
  CHECK_FALSE(native::parse_header(to_bytes("\x08\x09")));
  native::Request request;
  CHECK(native::answer(request, {}).second.status == native::StateStatus::none);
  std::vector<native::Served> const states{{snapshot(5), {}}};
  request.epoch = 4;
  CHECK(native::answer(request, states).second.status == native::StateStatus::another_state);
  request.epoch = 5;
  CHECK(native::answer(request, states).second.status == native::StateStatus::ok);
  request.offset = 1u << 30;
  request.state_hash = Bytes(32);
  CHECK(native::answer(request, states).second.status == native::StateStatus::another_state);
}
