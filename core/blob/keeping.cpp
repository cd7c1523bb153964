// SPDX-License-Identifier: MIT
// What of which blob is on disk: claims checked, torn chunks taken back, blobs added, room made.
#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/blob/detail/service_state.hpp"

namespace waggle::blob {

std::shared_ptr<Manifest const> BlobService::State::manifest(BlobId const& id) {
  if (auto const known = manifests.find(id); known != manifests.end()) return known->second;
  auto const bytes = index_.manifest(id);
  if (!bytes) return nullptr;
  auto decoded = Manifest::decode(*bytes);
  if (!decoded || crypto::sha256(*bytes) != id.hash) {
    forget(id);
    return nullptr;
  }
  auto shared = std::make_shared<Manifest const>(std::move(*decoded));
  manifests[id] = shared;
  return shared;
}

bool BlobService::State::holds_any(BlobId const& id) const {
  if (!index_.manifest(id)) return false;
  auto const held = index_.held(id);
  return std::find(held.begin(), held.end(), true) != held.end();
}

std::uint64_t BlobService::State::held_bytes(BlobId const& id) {
  auto const known = manifest(id);
  if (!known) return 0;
  auto const held = index_.held(id);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < held.size() && i < known->chunks.size(); ++i)
    sum += held[i] ? known->chunk_size(i) : 0;
  return sum;
}

std::uint64_t BlobService::State::all_held_bytes() {
  std::uint64_t sum = 0;
  for (auto const& id : index_.all()) sum += held_bytes(id);
  return sum;
}

void BlobService::State::forget(BlobId const& id) {
  index_.forget(id);
  manifests.erase(id);
  checked.erase(id);
  announced.erase(id);
}

void BlobService::State::torn(BlobId const& id, std::size_t chunk) {
  // The index has no way to unmark one: all are taken back and the others marked again.
  auto const known = manifest(id);
  if (!known) return;
  auto const held = index_.held(id);
  if (chunk >= held.size() || !held[chunk]) return;
  index_.forget(id);
  index_.put_manifest(id, known->encode());
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] && i != chunk) index_.mark_held(id, i);
  checked.erase(id);
  if (auto const fetch = fetches.find(id); fetch != fetches.end()) fetch->second->lost(chunk);
}

Co<void> BlobService::State::check_claims(BlobId id) {
  auto const known = manifest(id);
  if (!known || checked.contains(id)) co_return;
  auto const claimed = index_.held(id);
  auto job = [this, id, known, claimed] { return files.verify(id, *known, claimed); };
  auto const whole = co_await on(executor_, host_.runtime(), std::move(job));
  checked.insert(id);
  bool const damage = !std::equal(whole.begin(), whole.end(), claimed.begin(), claimed.end());
  if (!damage) co_return;
  if (std::find(claimed.begin(), claimed.end(), true) != claimed.end() && whole != claimed)
    log::warning("blob", files.path_of(id).string(), " is torn; what is missing is fetched again");
  index_.forget(id);
  index_.put_manifest(id, known->encode());
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (whole[i]) index_.mark_held(id, i);
}

Co<std::optional<BlobId>> BlobService::State::eviction_candidate() {
  std::vector<BlobId> ids;
  for (auto const& id : index_.all())
    if (evictable(id)) ids.push_back(id);
  auto job = [this, ids] {
    std::optional<BlobId> oldest;
    std::int64_t when = 0;
    for (auto const& id : ids) {
      auto const used = files.last_used(id);
      if (!oldest || used < when) oldest = id;
      if (oldest == id) when = used;
    }
    return oldest;
  };
  auto oldest = co_await on(executor_, host_.runtime(), std::move(job));
  // Someone may have joined it meanwhile.
  if (oldest && !evictable(*oldest)) oldest.reset();
  co_return oldest;
}

Co<std::uint64_t> BlobService::State::evict(BlobId id) {
  auto const freed = held_bytes(id);
  log::info("blob", "removed ", id.text(), " (", freed, " bytes) to make room");
  forget(id);
  auto job = [this, id] { return files.remove(id); };
  (void)co_await on(executor_, host_.runtime(), std::move(job));
  co_return freed;
}

Co<Status> BlobService::State::make_room(BlobId id, std::uint64_t need) {
  for (;;) {
    std::uint64_t reserved = 0;
    for (auto const& [other, fetch] : fetches)
      if (other != id) reserved += fetch->missing_bytes();
    std::uint64_t const used = all_held_bytes() + reserved;
    bool const over = used > options.disk_limit || need > options.disk_limit - used;
    Status room = ok();
    if (over) {
      std::uint64_t const have = used < options.disk_limit ? options.disk_limit - used : 0;
      room = Error{Errc::too_large,
                   cat("disk limit: ",
                       options.folder.string(),
                       " needs ",
                       need,
                       " bytes for blob ",
                       id.text(),
                       ", ",
                       have,
                       " of the ",
                       options.disk_limit,
                       " allowed are free")};
    } else {
      auto job = [this, need] { return files.room_for(need); };
      room = co_await on(executor_, host_.runtime(), std::move(job));
    }
    if (room || room.error().code != Errc::too_large) co_return room;
    auto const candidate = co_await eviction_candidate();
    if (!candidate) co_return room;
    (void)co_await evict(*candidate);
  }
}

Co<void> BlobService::State::sweep() {
  auto job = [this] { files.sweep(); };
  (void)co_await on(executor_, host_.runtime(), std::move(job));
}

Co<Result<BlobId>> BlobService::State::add(
    std::uint64_t size, std::function<Result<Bytes>(std::uint64_t, std::size_t)> read) {
  if (size > kMaxBlobBytes)
    co_return Error{Errc::too_large, cat("a blob of ", size, " bytes; at most ", kMaxBlobBytes)};
  BlobId const nobody{};
  WAGGLE_CO_TRY_STATUS(co_await make_room(nobody, size));
  auto const draft = files.draft(++drafts);
  Manifest made;
  made.size = size;
  auto& runtime = host_.runtime();
  for (std::uint64_t offset = 0; offset < size; offset += kChunkBytes) {
    auto const n = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, size - offset));
    auto job = [this, &read, &draft, offset, n]() -> Result<crypto::Sha256> {
      WAGGLE_TRY(auto const bytes, read(offset, n));
      WAGGLE_TRY_STATUS(files.append(draft, offset, bytes));
      return crypto::sha256(bytes);
    };
    auto hash = co_await on(executor_, runtime, std::move(job));
    if (!hash) {
      auto clean = [&draft] {
        std::error_code ignored;
        std::filesystem::remove(draft, ignored);
      };
      (void)co_await on(executor_, runtime, std::move(clean));
      co_return hash.error();
    }
    made.chunks.push_back(*hash);
  }
  auto const id = made.id();
  auto job = [this, &draft, id] { return files.adopt(draft, id); };
  WAGGLE_CO_TRY_STATUS(co_await on(executor_, runtime, std::move(job)));
  index_.put_manifest(id, made.encode());
  for (std::size_t i = 0; i < made.chunks.size(); ++i) index_.mark_held(id, i);
  checked.insert(id);
  if (joined.contains(id)) {
    announce_wanted = true;
    announce_now.notify_all();
  }
  co_return id;
}

}  // namespace waggle::blob
