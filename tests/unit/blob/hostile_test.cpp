// SPDX-License-Identifier: MIT
// What strangers can do to core/blob/blob.hpp.
#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/blob/messages.hpp"

#include "tests/unit/blob/swarm.hpp"

using namespace waggle;
using namespace waggle::test;
using namespace std::chrono_literals;
using blob::Answer;
using blob::Ask;
using blob::BlobId;
using blob::kChunkBytes;
using blob::Packing;
using blob::Request;
using blob::Said;

namespace {

enum class Lie {
  wrong_bytes,
  short_chunk,
  long_chunk,
  bomb,
  four_gigabytes,  // a frame length
  cut_frame,
  garbage,
  silent,
  hangs_up,
  always_busy,
  wrong_bitmap,
  wrong_manifest,
  denies,  // says that it holds everything, then has nothing
};

constexpr Lie kLies[] = {Lie::wrong_bytes,
                         Lie::short_chunk,
                         Lie::long_chunk,
                         Lie::bomb,
                         Lie::four_gigabytes,
                         Lie::cut_frame,
                         Lie::garbage,
                         Lie::silent,
                         Lie::hangs_up,
                         Lie::always_busy,
                         Lie::wrong_bitmap,
                         Lie::wrong_manifest,
                         Lie::denies};

/// Serves `manifest` falsely. Counts the streams that were opened to it.
struct Liar {
  Liar(sim::MemoryNetwork& network, std::uint64_t n, Lie how, blob::Manifest truth)
      : host(network, sim::peer(n)),
        lie(how),
        manifest(std::move(truth)),
        serving(host.serve(std::string(blob::kProtocol), [this](net::Incoming in) {
          ++streams;
          return answer(*this, std::move(in));
        })) {}

  static Co<void> answer(Liar& self, net::Incoming in) {
    auto& stream = *in.stream;
    auto& runtime = self.host.runtime();
    for (;;) {
      auto const frame = co_await net::read_frame(stream, 1000, runtime.now() + 1h);
      if (!frame) co_return;
      auto const request = Request::decode(*frame);
      if (!request) co_return;
      auto const reply = self.reply(*request);
      if (self.lie == Lie::hangs_up) co_return;
      if (self.lie == Lie::silent) {
        (void)co_await runtime.sleep_for(1h);
        co_return;
      }
      bool const raw =
          self.lie == Lie::four_gigabytes || self.lie == Lie::garbage || self.lie == Lie::cut_frame;
      if (raw && request->ask == Ask::chunk) {
        Bytes bytes = noise(100, 3);
        if (self.lie == Lie::four_gigabytes) bytes = *from_hex("ffffffff0f0000");
        if (self.lie == Lie::cut_frame) bytes = *from_hex("80100102");
        (void)co_await stream.write(bytes, runtime.now() + 10s);
        (void)co_await stream.close_write(runtime.now() + 10s);
        co_return;
      }
      auto const written = co_await net::write_frame(stream, reply, runtime.now() + 1h);
      if (!written) co_return;
    }
  }

  [[nodiscard]] Bytes reply(Request const& request) const {
    Answer answer;
    if (lie == Lie::always_busy) answer.said = Said::busy;
    if (request.ask == Ask::manifest) {
      answer.body = manifest.encode();
      if (lie == Lie::wrong_manifest) answer.body[10] ^= std::byte{1};
    } else if (request.ask == Ask::holding) {
      answer.body = blob::to_bitmap(std::vector<bool>(manifest.chunks.size(), true));
      if (lie == Lie::wrong_bitmap) answer.body.push_back(std::byte{0xff});
    } else {
      auto const size = manifest.chunk_size(request.chunk);
      answer.body = noise(size, 77);
      if (lie == Lie::short_chunk) answer.body.resize(size / 2);
      if (lie == Lie::long_chunk) answer.body.resize(size + 10);
      if (lie == Lie::bomb) answer = blob::pack(Bytes(32 * kChunkBytes));
      if (lie == Lie::denies) answer.said = Said::not_held;
    }
    return answer.encode();
  }

  sim::MemoryHost host;
  Lie lie;
  blob::Manifest manifest;
  std::size_t streams = 0;
  net::Registration serving;
};

blob::Manifest manifest_of(ByteView content) {
  blob::Manifest manifest;
  manifest.size = content.size();
  for (std::size_t at = 0; at < content.size(); at += kChunkBytes)
    manifest.chunks.push_back(
        crypto::sha256(content.subspan(at, std::min(kChunkBytes, content.size() - at))));
  return manifest;
}

Co<void> close_host(sim::MemoryHost& host) {
  co_await host.close();
}

}  // namespace

TEST_SUITE("BlobService, among strangers") {
  TEST_CASE("each kind of liar is outlived, and asked only a few times") {
    auto const content = noise(6 * kChunkBytes + 99, 5);
    for (auto const lie : kLies) {
      CAPTURE(static_cast<int>(lie));
      BlobSwarm swarm;
      auto& honest = swarm.add();
      auto& fetcher = swarm.add();
      Liar liar(swarm.network, 50, lie, manifest_of(content));
      BlobId id;
      swarm.world.run(add_into(honest, content, id));
      honest.blobs->serve_only({id});
      Fetched got;
      auto const start = swarm.world.now();
      swarm.world.run(fetch_into(fetcher, id, {liar.host.self(), honest.host.self()}, 1h, got));
      CHECK_MESSAGE(got.good(), got.detail());
      CHECK(fetcher.content(id) == content);
      CHECK(got.at - start < 3min);
      CHECK(liar.streams <= 20);
      CHECK(liar.streams >= 1);
      swarm.world.run(close_host(liar.host));
    }
  }

  TEST_CASE("liars alone get nothing onto the disk's notes, and the wait ends with their names") {
    auto const content = noise(3 * kChunkBytes, 5);
    for (auto const lie : {Lie::wrong_bytes, Lie::bomb, Lie::four_gigabytes, Lie::wrong_manifest}) {
      CAPTURE(static_cast<int>(lie));
      BlobSwarm swarm;
      auto& fetcher = swarm.add();
      Liar liar(swarm.network, 50, lie, manifest_of(content));
      auto const id = liar.manifest.id();
      Fetched got;
      swarm.world.run(fetch_into(fetcher, id, {liar.host.self()}, 30min, got));
      CHECK(!got.good());
      CHECK(got.last.done == 0);
      auto const held = fetcher.index.held(id);
      CHECK(std::find(held.begin(), held.end(), true) == held.end());
      CHECK(liar.streams <= 6);  // two lies end it
      swarm.world.run(close_host(liar.host));
    }
  }

  TEST_CASE("a task that names a manifest of 2^60 bytes is refused in words, whoever serves it") {
    BlobSwarm swarm;
    auto& fetcher = swarm.add();
    sim::MemoryHost host(swarm.network, sim::peer(60));
    auto const monster = *from_hex("088080808080808010");
    auto serve = [](sim::MemoryHost& self, Bytes body, net::Incoming in) -> Co<void> {
      auto const frame = co_await net::read_frame(*in.stream, 1000, self.runtime().now() + 1min);
      if (!frame) co_return;
      Answer answer;
      answer.body = body;
      auto const bytes = answer.encode();
      (void)co_await net::write_frame(*in.stream, bytes, self.runtime().now() + 1min);
    };
    {
      auto const serving = host.serve(std::string(blob::kProtocol), [&](net::Incoming in) {
        return serve(host, monster, std::move(in));
      });
      BlobId const id{crypto::sha256(monster)};
      Fetched got;
      swarm.world.run(fetch_into(fetcher, id, {host.self()}, 1min, got));
      REQUIRE(got.result);
      REQUIRE(!*got.result);
      CHECK(got.result->error().code == Errc::refused);
      CHECK(fetcher.index.all().empty());
    }
    swarm.world.run(close_host(host));
  }

  TEST_CASE(
      "askers who never read, never ask, or send garbage do not keep others from being served") {
    BlobSwarm swarm;
    auto& seeder = swarm.add();
    auto& fetcher = swarm.add();
    auto const content = noise(4 * kChunkBytes, 8);
    BlobId id;
    swarm.world.run(add_into(seeder, content, id));
    seeder.blobs->serve_only({id});
    std::vector<std::unique_ptr<sim::MemoryHost>> strangers;
    for (std::uint64_t n = 0; n < 4; ++n)
      strangers.push_back(std::make_unique<sim::MemoryHost>(swarm.network, sim::peer(200 + n)));
    Fetched got;
    auto scenario = [](BlobSwarm& s,
                       std::vector<std::unique_ptr<sim::MemoryHost>>& bad,
                       BlobPeer& from,
                       BlobPeer& to,
                       BlobId blob,
                       Fetched& out) -> Co<void> {
      std::vector<std::unique_ptr<net::Stream>> streams;
      Request request;
      request.blob = blob;
      request.ask = Ask::chunk;
      auto const ask = request.encode();
      for (std::size_t i = 0; i < bad.size(); ++i)
        for (int k = 0; k < 40; ++k) {
          auto opened =
              co_await bad[i]->open(from.host.self(), blob::kProtocol, s.world.now() + 5s);
          if (!opened) continue;
          // One host reads nothing of what it asks for, one is idle, one sends garbage, one a huge
          // length.
          if (i == 0) (void)co_await net::write_frame(**opened, ask, s.world.now() + 5s);
          if (i == 2) {
            auto const junk = noise(200, 4);
            (void)co_await (*opened)->write(junk, s.world.now() + 5s);
          }
          if (i == 3) {
            auto const huge = *from_hex("ffffffff0f");
            (void)co_await (*opened)->write(huge, s.world.now() + 5s);
          }
          streams.push_back(std::move(*opened));
        }
      std::vector<PeerId> hints{from.host.self()};
      co_await fetch_into(to, blob, std::move(hints), 10min, out);
      streams.clear();
      for (auto& host : bad) co_await host->close();
    };
    auto const start = swarm.world.now();
    swarm.world.run(scenario(swarm, strangers, seeder, fetcher, id, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(fetcher.content(id) == content);
    CHECK(got.at - start < 2min);
  }
}
