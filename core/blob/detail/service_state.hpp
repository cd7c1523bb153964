// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/blob/blob.hpp"
#include "core/blob/detail/server.hpp"

namespace waggle::blob {

using detail::Fetch;
using detail::Server;

/// What the service and its coroutines share. blob_service.cpp fetches and announces, keeping.cpp
/// knows what is on disk, adds to it and makes room.
struct BlobService::State final : detail::Keeper {
  State(net::Host& h, dht::Dht& d, Executor& e, Index& i, BlobOptions o)
      : host_(h),
        dht_(d),
        executor_(e),
        index_(i),
        options(std::move(o)),
        files(options.folder),
        scope(h.runtime()),
        announce_now(h.runtime()) {}

  net::Host& host() noexcept override { return host_; }

  dht::Dht& dht() noexcept override { return dht_; }

  Executor& executor() noexcept override { return executor_; }

  Disk const& disk() const noexcept override { return files; }

  Index& index() noexcept override { return index_; }

  std::size_t fetch_streams() const noexcept override { return options.fetch_streams; }

  std::shared_ptr<Manifest const> manifest(BlobId const& id) override;
  Co<void> check_claims(BlobId id) override;
  Co<Status> make_room(BlobId id, std::uint64_t need) override;
  void stored(BlobId const& id, std::size_t bytes) override;

  Co<void> announce_loop();
  Co<void> sweep();
  /// The bytes freed.
  Co<std::uint64_t> evict(BlobId id);
  /// The least recently used blob that nobody needs.
  Co<std::optional<BlobId>> eviction_candidate();
  Co<Result<BlobId>> add(std::uint64_t size,
                         std::function<Result<Bytes>(std::uint64_t, std::size_t)> read);

  bool evictable(BlobId const& id) const {
    return !joined.contains(id) && !fetches.contains(id) && !adding.contains(id);
  }

  std::uint64_t held_bytes(BlobId const& id);
  std::uint64_t all_held_bytes();
  bool holds_any(BlobId const& id) const;
  void forget(BlobId const& id);
  void torn(BlobId const& id, std::size_t chunk);
  Co<void> run_fetch(std::shared_ptr<Fetch> fetch, BlobId id);

  net::Host& host_;
  dht::Dht& dht_;
  Executor& executor_;
  Index& index_;
  BlobOptions options;  // disk_limit may change
  Disk const files;
  Scope scope;
  Signal announce_now;
  bool announce_wanted = false;
  std::shared_ptr<Server> server;
  std::set<BlobId> joined;
  std::set<BlobId> announced;
  std::set<BlobId> adding;
  std::set<BlobId> checked;  // claims hashed in this process
  std::map<BlobId, std::shared_ptr<Fetch>> fetches;
  std::map<BlobId, std::shared_ptr<Manifest const>> manifests;
  std::uint64_t fetched = 0;
  std::uint64_t drafts = 0;
};

}  // namespace waggle::blob
