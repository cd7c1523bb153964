// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "core/base/log.hpp"
#include "core/blob/detail/server.hpp"
#include "core/blob/providers.hpp"

namespace waggle::blob {
namespace {

using detail::Fetch;
using detail::Server;

constexpr Duration kAnnounceTimeout = std::chrono::seconds(60);
// After a failed announcement, and the least time between two: a joining node marks many chunks a
// second.
constexpr Duration kAnnounceRetry = std::chrono::seconds(15);
constexpr Duration kAnnounceSettle = std::chrono::seconds(1);

}  // namespace

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
  BlobOptions const options;
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

void BlobService::State::stored(BlobId const& id, std::size_t bytes) {
  fetched += bytes;
  if (joined.contains(id) && !announced.contains(id)) {
    announce_wanted = true;
    announce_now.notify_all();
  }
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

Co<void> BlobService::State::announce_loop() {
  auto& runtime = host_.runtime();
  TimePoint next = kNoDeadline;
  for (;;) {
    if (!announce_wanted && runtime.now() < next) {
      auto const waited = co_await announce_now.wait(next);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
      continue;
    }
    auto const settled = co_await runtime.sleep_for(kAnnounceSettle);
    if (!settled) co_return;
    announce_wanted = false;
    std::vector<BlobId> ids;
    for (auto const& id : joined)
      if (holds_any(id)) ids.push_back(id);
    next = ids.empty() ? kNoDeadline : runtime.now() + kAnnounceEvery;
    if (ids.empty()) continue;
    auto const done = co_await announce(dht_, ids, runtime.now() + kAnnounceTimeout);
    if (done) {
      announced.insert(ids.begin(), ids.end());
      continue;
    }
    if (done.error().code == Errc::cancelled) co_return;
    log::debug("blob", "announcing failed: ", done.error().detail);
    next = runtime.now() + kAnnounceRetry;
  }
}

Co<void> BlobService::State::sweep() {
  auto job = [this] { files.sweep(); };
  (void)co_await on(executor_, host_.runtime(), std::move(job));
}

Co<void> BlobService::State::run_fetch(std::shared_ptr<Fetch> fetch, BlobId id) {
  co_await fetch->run();
  auto const at = fetches.find(id);
  if (at != fetches.end() && at->second == fetch) fetches.erase(at);
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

BlobService::BlobService(
    net::Host& host, dht::Dht& dht, Executor& disk, Index& index, BlobOptions options)
    : state_(std::make_unique<State>(host, dht, disk, index, std::move(options))) {
  auto* const state = state_.get();
  Server::Hooks hooks;
  hooks.served = [state](BlobId const& id) { return state->joined.contains(id); };
  hooks.torn = [state](BlobId const& id, std::size_t chunk) { state->torn(id, chunk); };
  state->server =
      std::make_shared<Server>(*state, state->options.serve_streams_per_peer, std::move(hooks));
  state->server->start();
  state->scope.spawn("blob sweep", state->sweep());
  state->scope.spawn("blob announce", state->announce_loop());
}

BlobService::~BlobService() = default;

Co<void> BlobService::close() {
  for (auto const& [id, fetch] : state_->fetches) fetch->abandon();
  co_await state_->server->close();
  co_await state_->scope.close();
}

Co<Result<BlobId>> BlobService::add_file(std::filesystem::path path) {
  auto* const state = state_.get();
  auto measure = [&path]() -> Result<std::uint64_t> {
    std::error_code failed;
    auto const size = std::filesystem::file_size(path, failed);
    if (failed) return Error{Errc::io, cat("cannot read ", path.string(), ": ", failed.message())};
    return std::uint64_t{size};
  };
  WAGGLE_CO_TRY(auto const size,
                co_await on(state->executor_, state->host_.runtime(), std::move(measure)));
  std::function<Result<Bytes>(std::uint64_t, std::size_t)> read =
      [path](std::uint64_t offset, std::size_t n) { return read_range(path, offset, n); };
  auto added = co_await state->add(size, std::move(read));
  co_return added;
}

Co<Result<BlobId>> BlobService::add_bytes(Bytes content) {
  auto const size = content.size();
  std::function<Result<Bytes>(std::uint64_t, std::size_t)> read =
      [&content](std::uint64_t offset, std::size_t n) -> Result<Bytes> {
    return to_bytes(ByteView(content).subspan(offset, n));
  };
  auto added = co_await state_->add(size, std::move(read));
  co_return added;
}

Co<Result<std::filesystem::path>> BlobService::fetch(
    BlobId id,
    std::vector<PeerId> hints,
    std::function<void(FetchProgress const&)> progress,
    TimePoint deadline) {
  auto* const state = state_.get();
  if (state->scope.cancelled()) co_return Error{Errc::cancelled, "blobs are closing"};
  auto& slot = state->fetches[id];
  if (!slot) {
    slot = std::make_shared<Fetch>(*state, id);
    state->scope.spawn("blob fetch", state->run_fetch(slot, id));
  }
  auto const fetch = slot;
  auto const path = state->files.path_of(id);
  fetch->add_hints(hints);
  ++fetch->waiters;
  std::optional<Error> left;
  while (!fetch->done() && !left) {
    if (progress) progress(fetch->progress());
    auto const waited = co_await fetch->changed.wait(deadline);
    if (waited) continue;
    left = waited.error().code == Errc::timeout ? fetch->timed_out() : waited.error();
  }
  --fetch->waiters;
  if (!fetch->done()) {
    // A fetch that is not done means that the service, which ends all of them, is still there.
    if (fetch->waiters == 0) {
      fetch->abandon();
      auto const at = state->fetches.find(id);
      if (at != state->fetches.end() && at->second == fetch) state->fetches.erase(at);
    }
    co_return *left;
  }
  if (!fetch->result()) co_return fetch->result().error();
  if (progress) progress(fetch->progress());
  co_return path;
}

void BlobService::serve_only(std::set<BlobId> ids) {
  state_->joined = std::move(ids);
  for (auto at = state_->announced.begin(); at != state_->announced.end();)
    at = state_->joined.contains(*at) ? std::next(at) : state_->announced.erase(at);
  state_->announce_wanted = true;
  state_->announce_now.notify_all();
}

bool BlobService::complete(BlobId const& id) const {
  auto const known = state_->manifest(id);
  if (!known) return false;
  auto const held = state_->index_.held(id);
  return held.size() >= known->chunks.size() &&
         std::find(held.begin(), held.end(), false) == held.end();
}

std::filesystem::path BlobService::path_of(BlobId const& id) const {
  return state_->files.path_of(id);
}

std::uint64_t BlobService::remove(BlobId const& id) {
  auto const freed = state_->held_bytes(id);
  if (auto const fetch = state_->fetches.find(id); fetch != state_->fetches.end())
    fetch->second->abandon();
  state_->forget(id);
  state_->files.remove(id);
  return freed;
}

std::uint64_t BlobService::bytes_served() const noexcept {
  return state_->server->bytes_served();
}

std::uint64_t BlobService::bytes_fetched() const noexcept {
  return state_->fetched;
}

}  // namespace waggle::blob
