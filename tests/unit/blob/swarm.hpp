// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/compute.hpp"
#include "core/base/file.hpp"
#include "core/blob/blob.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"
#include "tests/support/temp_folder.hpp"

namespace waggle::test {

/// The notes of held chunks, in memory.
class MemoryIndex final : public blob::Index {
 public:
  void put_manifest(blob::BlobId const& id, ByteView manifest) override {
    manifests[id] = to_bytes(manifest);
  }

  std::optional<Bytes> manifest(blob::BlobId const& id) const override {
    auto const found = manifests.find(id);
    return found == manifests.end() ? std::nullopt : std::optional(found->second);
  }

  void mark_held(blob::BlobId const& id, std::size_t chunk) override {
    auto& bits = marks[id];
    if (bits.size() <= chunk) bits.resize(chunk + 1);
    bits[chunk] = true;
  }

  std::vector<bool> held(blob::BlobId const& id) const override {
    auto const found = marks.find(id);
    return found == marks.end() ? std::vector<bool>{} : found->second;
  }

  void forget(blob::BlobId const& id) override {
    manifests.erase(id);
    marks.erase(id);
  }

  std::vector<blob::BlobId> all() const override {
    std::vector<blob::BlobId> ids;
    for (auto const& [id, manifest] : manifests) ids.push_back(id);
    return ids;
  }

  std::map<blob::BlobId, Bytes> manifests;
  std::map<blob::BlobId, std::vector<bool>> marks;
};

/// A peer with blobs. The index and the folder survive restart(), as they do a crash.
struct BlobPeer {
  BlobPeer(sim::MemoryNetwork& network, std::uint64_t n, std::uint64_t disk_limit = 1ull << 40)
      : host(network, sim::peer(n)), dht(host, dht::Options{}) {
    options.folder = folder / "blobs";
    options.disk_limit = disk_limit;
    blobs.emplace(host, dht, disk, index, options);
  }

  Co<void> stop() {
    co_await blobs->close();
    co_await dht.close();
    co_await host.close();
  }

  Co<void> restart() {
    co_await blobs->close();
    blobs.reset();
    blobs.emplace(host, dht, disk, index, options);
  }

  [[nodiscard]] Bytes content(blob::BlobId const& id) const {
    auto bytes = read_file(blobs->path_of(id), 1u << 28);
    return bytes ? std::move(*bytes) : Bytes{};
  }

  TempFolder folder;
  MemoryIndex index;
  InlineExecutor disk;
  sim::MemoryHost host;
  dht::Dht dht;
  blob::BlobOptions options;
  std::optional<blob::BlobService> blobs;
};

/// A world of such peers. Its destructor stops them.
struct BlobSwarm {
  explicit BlobSwarm(sim::Links links = sim::links::lan(), std::uint64_t seed = 1)
      : world(seed), network(world, std::move(links)) {}

  ~BlobSwarm() {
    auto stop_all = [](std::vector<std::unique_ptr<BlobPeer>>& all) -> Co<void> {
      for (auto& peer : all) co_await peer->stop();
    };
    world.run(stop_all(peers));
  }

  BlobPeer& add(std::uint64_t disk_limit = 1ull << 40) {
    peers.push_back(std::make_unique<BlobPeer>(network, 1 + peers.size(), disk_limit));
    return *peers.back();
  }

  sim::World world;
  sim::MemoryNetwork network;
  std::vector<std::unique_ptr<BlobPeer>> peers;
};

inline Bytes noise(std::size_t n, std::uint64_t seed) {
  Bytes out(n);
  for (auto& byte : out) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    byte = static_cast<std::byte>(seed);
  }
  return out;
}

/// What a fetch came to, readable after its coroutine has ended.
struct Fetched {
  std::optional<Result<std::filesystem::path>> result;
  blob::FetchProgress last;
  TimePoint at{};

  [[nodiscard]] bool good() const { return result && *result; }

  [[nodiscard]] std::string detail() const {
    return !result ? "not ended" : *result ? "" : result->error().detail;
  }
};

inline Co<void> fetch_into(
    BlobPeer& peer, blob::BlobId id, std::vector<PeerId> hints, Duration patience, Fetched& out) {
  auto& runtime = peer.host.runtime();
  std::function<void(blob::FetchProgress const&)> progress =
      [&out](blob::FetchProgress const& now) { out.last = now; };
  auto got = co_await peer.blobs->fetch(
      id, std::move(hints), std::move(progress), runtime.now() + patience);
  out.result.emplace(std::move(got));
  out.at = runtime.now();
}

inline Co<void> add_into(BlobPeer& peer, Bytes content, blob::BlobId& out) {
  auto added = co_await peer.blobs->add_bytes(std::move(content));
  REQUIRE_MESSAGE(added, added.error().detail);
  out = *added;
}

inline Co<void> join_dht(BlobPeer& peer, PeerId known) {
  auto const deadline = peer.host.runtime().now() + std::chrono::seconds(30);
  std::vector<PeerId> peers{known};
  (void)co_await peer.dht.bootstrap(std::move(peers), deadline);
}

}  // namespace waggle::test
