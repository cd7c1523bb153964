// SPDX-License-Identifier: MIT
#include "core/node/tasks/blob_index.hpp"

#include "core/base/log.hpp"

namespace waggle::node {
namespace {

void report(Status const& status) {
  if (!status) log::warning("store", "a blob note was not written: ", status.error().detail);
}

}  // namespace

Result<std::unique_ptr<BlobIndex>> BlobIndex::load(store::Store& store, Executor& store_thread) {
  auto index = std::unique_ptr<BlobIndex>(new BlobIndex(store, store_thread));
  WAGGLE_TRY(auto const ids, store.blobs());
  for (auto const& raw : ids) {
    blob::BlobId id;
    if (raw.size() != id.hash.size()) continue;
    std::copy(raw.begin(), raw.end(), id.hash.begin());
    WAGGLE_TRY(auto bytes, store.manifest(raw));
    if (!bytes) continue;
    auto manifest = blob::Manifest::decode(*bytes);
    if (!manifest) continue;
    Entry entry{*std::move(bytes), std::vector<bool>(manifest->chunks.size(), false)};
    WAGGLE_TRY(auto const chunks, store.chunks(raw));
    for (auto const chunk : chunks)
      if (chunk < entry.held.size()) entry.held[chunk] = true;
    index->entries_.emplace(id, std::move(entry));
  }
  return index;
}

void BlobIndex::put_manifest(blob::BlobId const& id, ByteView manifest) {
  auto decoded = blob::Manifest::decode(manifest);
  if (!decoded) return;
  auto const [entry, fresh] = entries_.try_emplace(
      id, Entry{to_bytes(manifest), std::vector<bool>(decoded->chunks.size(), false)});
  if (!fresh) return;
  store_thread_.post([&store = store_, id, bytes = entry->second.manifest] {
    report(store.put_manifest(id.hash, bytes));
  });
}

std::optional<Bytes> BlobIndex::manifest(blob::BlobId const& id) const {
  auto const found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  return found->second.manifest;
}

void BlobIndex::mark_held(blob::BlobId const& id, std::size_t chunk) {
  auto const found = entries_.find(id);
  if (found == entries_.end() || chunk >= found->second.held.size()) return;
  found->second.held[chunk] = true;
  store_thread_.post([&store = store_, id, chunk] {
    report(store.mark_chunk(id.hash, static_cast<std::uint32_t>(chunk)));
  });
}

std::vector<bool> BlobIndex::held(blob::BlobId const& id) const {
  auto const found = entries_.find(id);
  return found == entries_.end() ? std::vector<bool>{} : found->second.held;
}

void BlobIndex::forget(blob::BlobId const& id) {
  if (entries_.erase(id) == 0) return;
  store_thread_.post([&store = store_, id] { report(store.remove_blob(id.hash)); });
}

std::vector<blob::BlobId> BlobIndex::all() const {
  std::vector<blob::BlobId> ids;
  for (auto const& [id, entry] : entries_) ids.push_back(id);
  return ids;
}

}  // namespace waggle::node
