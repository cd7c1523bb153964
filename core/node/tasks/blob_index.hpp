// SPDX-License-Identifier: MIT
#pragma once

#include <map>

#include "core/base/compute.hpp"
#include "core/blob/blob.hpp"
#include "core/store/store.hpp"

namespace waggle::node {

/// Notes of held chunks: answered from memory, written behind to the store on its thread. A note
/// lost in a crash costs fetching that chunk again, never a wrong claim: it is written after the
/// chunk.
class BlobIndex final : public blob::Index {
 public:
  /// Reads what the store holds. Thread of the calls: the network thread. `store` is used on
  /// `store_thread` alone from here on.
  [[nodiscard]] static Result<std::unique_ptr<BlobIndex>> load(store::Store& store,
                                                               Executor& store_thread);

  void put_manifest(blob::BlobId const& id, ByteView manifest) override;
  [[nodiscard]] std::optional<Bytes> manifest(blob::BlobId const& id) const override;
  void mark_held(blob::BlobId const& id, std::size_t chunk) override;
  [[nodiscard]] std::vector<bool> held(blob::BlobId const& id) const override;
  void forget(blob::BlobId const& id) override;
  [[nodiscard]] std::vector<blob::BlobId> all() const override;

 private:
  struct Entry {
    Bytes manifest;
    std::vector<bool> held;
  };

  BlobIndex(store::Store& store, Executor& store_thread)
      : store_(store), store_thread_(store_thread) {}

  store::Store& store_;
  Executor& store_thread_;
  std::map<blob::BlobId, Entry> entries_;
};

}  // namespace waggle::node
