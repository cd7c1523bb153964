// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/blob/detail/service_state.hpp"
#include "core/blob/providers.hpp"

namespace waggle::blob {
namespace {

constexpr Duration kAnnounceTimeout = std::chrono::seconds(60);
// After a failed announcement, and the least time between two: a joining node marks many chunks a
// second.
constexpr Duration kAnnounceRetry = std::chrono::seconds(15);
constexpr Duration kAnnounceSettle = std::chrono::seconds(1);

}  // namespace

void BlobService::State::stored(BlobId const& id, std::size_t bytes) {
  fetched += bytes;
  if (joined.contains(id) && !announced.contains(id)) {
    announce_wanted = true;
    announce_now.notify_all();
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

Co<void> BlobService::State::run_fetch(std::shared_ptr<Fetch> fetch, BlobId id) {
  co_await fetch->run();
  auto const at = fetches.find(id);
  if (at != fetches.end() && at->second == fetch) fetches.erase(at);
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
    TimePoint deadline,
    std::uint64_t most) {
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
    auto const now = fetch->progress();
    if (now.total > most) {
      left = Error{Errc::refused,
                   cat("the blob holds ", now.total, " bytes, at most ", most, " are taken")};
      break;
    }
    if (progress) progress(now);
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

void BlobService::set_disk_limit(std::uint64_t bytes) noexcept {
  state_->options.disk_limit = bytes;
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
