// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/compute.hpp"
#include "core/crypto/hash.hpp"
#include "core/dht/dht.hpp"
#include "core/net/host.hpp"

/// Bytes named by their hash, fetched from whoever has them. Wire facts: DESIGN.md section 13.
namespace waggle::blob {

constexpr std::size_t kChunkBytes = 1u << 20;
constexpr std::uint64_t kMaxBlobBytes =
    64ull << 30;  ///< a manifest of 2 MiB; larger is refused before anything is asked for

/// SHA-256 of the manifest.
struct BlobId {
  crypto::Sha256 hash{};

  [[nodiscard]] std::string text() const { return to_hex(hash); }

  [[nodiscard]] static Result<BlobId> parse(std::string_view hex);
  friend auto operator<=>(BlobId const&, BlobId const&) = default;
};

/// Size and the hash of each 1 MiB chunk of plain bytes.
struct Manifest {
  std::uint64_t size = 0;
  std::vector<crypto::Sha256> chunks;

  [[nodiscard]] Bytes encode() const;  ///< deterministic protobuf
  [[nodiscard]] static Result<Manifest> decode(ByteView bytes);
  [[nodiscard]] BlobId id() const;
  /// Plain bytes of chunk i: 1 MiB, the last one less.
  [[nodiscard]] std::size_t chunk_size(std::size_t index) const noexcept;
};

/// Where the notes of held chunks are kept; core/store implements it for the node, tests in memory.
/// Thread: the network thread; cheap calls.
class Index {
 public:
  virtual ~Index() = default;
  virtual void put_manifest(BlobId const& id, ByteView manifest) = 0;
  [[nodiscard]] virtual std::optional<Bytes> manifest(BlobId const& id) const = 0;
  virtual void mark_held(BlobId const& id, std::size_t chunk) = 0;
  [[nodiscard]] virtual std::vector<bool> held(BlobId const& id) const = 0;
  virtual void forget(BlobId const& id) = 0;
  [[nodiscard]] virtual std::vector<BlobId> all() const = 0;
};

struct BlobOptions {
  std::filesystem::path folder;            ///< <data dir>/blobs
  std::uint64_t disk_limit = 20ull << 30;  ///< over all blobs
  std::size_t serve_streams_per_peer = 4;
  std::size_t fetch_streams = 8;  ///< over all providers
};

struct FetchProgress {
  std::uint64_t done = 0;   ///< bytes verified and on disk
  std::uint64_t total = 0;  ///< 0 until the manifest is known
  std::size_t providers = 0;
};

/// Fetches, keeps, serves (/waggle/blob/1) and advertises blobs. Thread: the network thread;
/// hashing and files on `disk`.
class BlobService {
 public:
  BlobService(net::Host& host, dht::Dht& dht, Executor& disk, Index& index, BlobOptions options);
  ~BlobService();
  [[nodiscard]] Co<void> close();

  /// Copies a local file in (publishing), chunk by chunk. Errors: io, too_large (need, have, path).
  [[nodiscard]] Co<Result<BlobId>> add_file(std::filesystem::path path);
  [[nodiscard]] Co<Result<BlobId>> add_bytes(Bytes content);

  /// Fetches what is missing from several providers at once, each chunk verified, resuming; serves
  /// each as soon as it is held. `hints` are asked first. Returns the local path. Waits and retries
  /// while no provider is there, until `deadline`. Errors: not_found, too_large (the disk or our
  /// share of it is full: need, have, path), refused (larger than any blob, or than `most` bytes),
  /// io, timeout, cancelled.
  [[nodiscard]] Co<Result<std::filesystem::path>> fetch(
      BlobId id,
      std::vector<PeerId> hints,
      std::function<void(FetchProgress const&)> progress,
      TimePoint deadline,
      std::uint64_t most = kMaxBlobBytes);

  /// Only blobs of joined tasks are served and advertised; this replaces the set.
  void serve_only(std::set<BlobId> ids);
  [[nodiscard]] bool complete(BlobId const& id) const;
  [[nodiscard]] std::filesystem::path path_of(BlobId const& id) const;
  /// What all blobs may take from now on; the next fetch keeps to it, nothing is deleted before.
  void set_disk_limit(std::uint64_t bytes) noexcept;
  /// Forgets and deletes. Returns the bytes freed.
  std::uint64_t remove(BlobId const& id);

  [[nodiscard]] std::uint64_t bytes_served() const noexcept;
  [[nodiscard]] std::uint64_t bytes_fetched() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::blob
