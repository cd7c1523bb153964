// SPDX-License-Identifier: MIT
#include "core/net/kad/service.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

using namespace waggle;
using namespace waggle::net;
using namespace std::chrono_literals;

namespace {

/// A peer as the node composes it: host, book, Kad, and identify's word to both.
struct Member {
  Member(sim::MemoryNetwork& network, PeerId self, kad::ServiceOptions options = {})
      : book(network.runtime()),
        host(network, self, {.needs_addresses = true, .book = &book}),
        kad(host, book, options) {
    host.on_connected = [this, &network](PeerId const& peer,
                                         std::vector<std::string> const& protocols) {
      auto const addresses = network.find(peer)->addresses();
      book.add(peer, addresses, 30min);
      kad.identified(peer, protocols, addresses);
    };
    host.on_disconnected = [this](PeerId const& peer) { kad.disconnected(peer); };
  }

  AddressBook book;
  sim::MemoryHost host;
  kad::Service kad;
};

struct Swarm {
  explicit Swarm(std::size_t size, std::size_t clients = 0)
      : world(5), network(world, sim::links::lan()) {
    for (std::size_t i = 0; i < size; ++i) {
      kad::ServiceOptions options;
      options.server_mode = i >= clients;
      members.push_back(std::make_unique<Member>(network, sim::peer(i), options));
    }
  }

  ~Swarm() { world.run(close(*this)); }

  static Co<void> close(Swarm& swarm) {
    for (auto const& member : swarm.members) co_await member->kad.close();
    for (auto const& member : swarm.members) co_await member->host.close();
  }

  void know(std::size_t a, std::size_t b) {
    members[a]->book.add(members[b]->host.self(), members[b]->host.addresses(), Duration::max());
    world.run(connect(members[a]->host, members[b]->host.self()));
  }

  static Co<void> connect(sim::MemoryHost& host, PeerId peer) {
    (void)co_await host.connect(peer, host.runtime().now() + 5s);
  }

  sim::World world;
  sim::MemoryNetwork network;
  std::vector<std::unique_ptr<Member>> members;
};

Co<void> find(Member& member, PeerId peer, std::string& outcome) {
  auto found = co_await member.kad.find_peer(peer, member.host.runtime().now() + 3s);
  outcome = found ? found->front().text() : std::string(name(found.error().code));
}

std::string find(Swarm& swarm, std::size_t from, PeerId peer) {
  std::string outcome;
  swarm.world.run(find(*swarm.members[from], peer, outcome));
  return outcome;
}

kad::Message request(ByteView key, kad::MessageType type = kad::MessageType::find_node) {
  kad::Message message;
  message.type = type;
  message.key = to_bytes(key);
  return message;
}

std::vector<PeerId> named(Member const& member, PeerId const& asker, kad::Message const& message) {
  auto const answer = member.kad.answer(asker, message.encode());
  REQUIRE(answer);
  auto const decoded = kad::Message::decode(*answer);
  REQUIRE(decoded);
  CHECK(decoded->type == message.type);
  std::vector<PeerId> ids;
  for (auto const& peer : decoded->closer_peers) {
    CHECK(!peer.addresses.empty());
    ids.push_back(peer.id);
  }
  return ids;
}

bool has(std::vector<PeerId> const& ids, PeerId const& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

TEST_CASE("a swarm in which each knows only one other finds everybody") {
  constexpr std::size_t kSize = 60;
  Swarm swarm(kSize);
  for (std::size_t i = 1; i < kSize; ++i) swarm.know(i, i - 1);
  swarm.world.run_for(2min);
  for (std::size_t i = 0; i < kSize; i += 7)
    for (std::size_t j = 0; j < kSize; ++j)
      if (i != j)
        CHECK(find(swarm, i, sim::peer(j)) == swarm.members[j]->host.addresses()[0].text());
}

TEST_CASE("clients are found though they serve no Kad, strangers are not") {
  Swarm swarm(12, 2);
  for (std::size_t i = 0; i < 11; ++i) swarm.know(i, 11);
  swarm.world.run_for(1min);
  CHECK(find(swarm, 0, sim::peer(1)) == swarm.members[1]->host.addresses()[0].text());
  CHECK(find(swarm, 5, sim::peer(0)) == swarm.members[0]->host.addresses()[0].text());
  CHECK(find(swarm, 0, sim::peer(999)) == "not_found");
  for (auto const& member : swarm.members) {
    auto const ids = named(*member, sim::peer(77), request(as_bytes("any key")));
    CHECK(!has(ids, sim::peer(0)));
    CHECK(!has(ids, sim::peer(1)));
  }
}

TEST_CASE("an empty table fails at once") {
  Swarm swarm(1);
  CHECK(find(swarm, 0, sim::peer(5)) == "not_found");
}

TEST_CASE("asked for itself a server names itself and nobody else") {
  Swarm swarm(5);
  for (std::size_t i = 1; i < 5; ++i) swarm.know(i, 0);
  swarm.world.run_for(30s);
  auto const self = sim::peer(0);
  CHECK(named(*swarm.members[0], sim::peer(1), request(self.bytes())) == std::vector{self});
}

TEST_CASE("the asker is never named, even when it asks for itself") {
  Swarm swarm(5);
  for (std::size_t i = 1; i < 5; ++i) swarm.know(i, 0);
  swarm.world.run_for(30s);
  auto const asker = sim::peer(1);
  auto const ids = named(*swarm.members[0], asker, request(asker.bytes()));
  CHECK(ids.size() == 3);
  CHECK(!has(ids, asker));
}

TEST_CASE("at most twenty and the target are named, those without addresses left out") {
  Swarm swarm(41, 1);
  for (std::size_t i = 0; i < 40; ++i) swarm.know(i, 40);
  swarm.world.run_for(1min);
  auto const& member = *swarm.members[40];
  CHECK(named(member, sim::peer(77), request(as_bytes("key"))).size() == 20);
  auto const with_client = named(member, sim::peer(77), request(sim::peer(0).bytes()));
  CHECK(with_client.size() == 21);
  CHECK(has(with_client, sim::peer(0)));
  CHECK(named(member, sim::peer(77), request(as_bytes("k"), kad::MessageType::get_value)).size() ==
        20);
  CHECK(named(member, sim::peer(77), request(as_bytes("k"), kad::MessageType::get_providers))
            .size() == 20);
  swarm.world.run_for(1h);
  auto const kept = named(member, sim::peer(77), request(as_bytes("key")));
  CHECK(kept.size() <= 20);
}

TEST_CASE("ping is echoed, stores are refused, empty keys and nonsense reset") {
  Swarm swarm(1);
  auto const& kad = swarm.members[0]->kad;
  auto const asker = sim::peer(9);
  auto const ping = *from_hex("08055000");
  CHECK(kad.answer(asker, ping) == ping);
  CHECK(!kad.answer(asker, request({}).encode()));
  CHECK(!kad.answer(asker, request({}, kad::MessageType::get_value).encode()));
  CHECK(!kad.answer(asker, request(as_bytes("k"), kad::MessageType::put_value).encode()));
  CHECK(!kad.answer(asker, as_bytes("nonsense")));
  CHECK(!kad.answer(asker, request(Bytes(2000)).encode()));
  auto const added =
      kad.answer(asker, request(as_bytes("k"), kad::MessageType::add_provider).encode());
  REQUIRE(added);
  CHECK(added->empty());
}

namespace {

Co<void> several(Swarm& swarm, std::string& story) {
  auto opened = co_await swarm.members[1]->host.open(sim::peer(0), kad::kProtocol, kNoDeadline);
  auto const stream = std::move(*opened);
  auto const ask = request(sim::peer(0).bytes()).encode();
  auto const provider = request(as_bytes("k"), kad::MessageType::add_provider).encode();
  for (int i = 0; i < 3; ++i) {
    (void)co_await write_frame(*stream, provider, kNoDeadline);
    (void)co_await write_frame(*stream, ask, kNoDeadline);
    auto answer = co_await read_frame(*stream, 1000, kNoDeadline);
    story += answer ? "answer " : "error ";
  }
  TimePoint const idle = swarm.world.now();
  std::array<std::byte, 1> byte{};
  auto end = co_await stream->read_some(byte, kNoDeadline);
  story += end ? "end" : std::string(name(end.error().code));
  if (swarm.world.now() - idle < 59s || swarm.world.now() - idle > 61s)
    story += " at the wrong time";
}

}  // namespace

TEST_CASE("several requests share a stream, which is reset after a minute of silence") {
  Swarm swarm(2);
  swarm.know(1, 0);
  std::string story;
  swarm.world.run(several(swarm, story));
  CHECK(story == "answer answer answer closed");
}

TEST_CASE("a server that dies is taken out of the tables, one that stops serving at once") {
  Swarm swarm(6);
  for (std::size_t i = 1; i < 6; ++i) swarm.know(i, 0);
  swarm.world.run_for(1min);
  CHECK(swarm.members[0]->kad.table_size() == 5);
  swarm.members[0]->kad.identified(sim::peer(2), {"/ipfs/id/1.0.0"}, {});
  CHECK(swarm.members[0]->kad.table_size() == 4);
  swarm.members[5]->host.kill();
  swarm.world.run_for(30min);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(!has(named(*swarm.members[i], sim::peer(77), request(as_bytes("key"))), sim::peer(5)));
}

TEST_CASE("who does not know itself does not enter the table") {
  Swarm swarm(1);
  sim::MemoryHost liar(swarm.network, sim::peer(50));
  auto const serving = liar.serve(kad::kProtocol, [](Incoming incoming) -> Co<void> {
    auto const stream = std::move(incoming.stream);
    (void)co_await read_frame(*stream, 1000, kNoDeadline);
    auto const nothing = request({}).encode();
    (void)co_await write_frame(*stream, nothing, kNoDeadline);
    (void)co_await stream->close_write(kNoDeadline);
  });
  swarm.world.run(Swarm::connect(liar, sim::peer(0)));
  swarm.world.run_for(10s);
  CHECK(swarm.members[0]->kad.table_size() == 0);
  swarm.world.run(liar.close());
}
