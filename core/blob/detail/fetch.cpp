// SPDX-License-Identifier: MIT
#include "core/blob/detail/fetch.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/blob/providers.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::blob::detail {
namespace {

constexpr Duration kOpenTimeout = std::chrono::seconds(15);
// 1 MiB in this time is 17 KiB/s: slower ones hold a stream that another could use.
constexpr Duration kAnswerTimeout = std::chrono::seconds(60);
constexpr Duration kLookupTimeout = std::chrono::seconds(30);
constexpr Duration kFirstLookupWait = std::chrono::seconds(2);
constexpr Duration kLongestLookupWait = std::chrono::minutes(1);

/// What became of a chunk on the disk thread.
struct Landing {
  bool good = false;
  Status written = ok();
};

Landing land(Disk const& disk,
             BlobId const& id,
             Manifest const& manifest,
             std::size_t chunk,
             Answer answer) {
  auto plain = unpack(std::move(answer), manifest.chunk_size(chunk));
  if (!plain || crypto::sha256(*plain) != manifest.chunks[chunk]) return {};
  return {true, disk.write(id, chunk, *plain)};
}

}  // namespace

Fetch::Fetch(Keeper& keeper, BlobId id)
    : changed(keeper.host().runtime()), keeper_(keeper), id_(id) {
}

void Fetch::add_hints(std::vector<PeerId> const& hints) {
  for (auto const& hint : hints)
    if (hint != keeper_.host().self()) book_.add(hint, true);
  changed.notify_all();
}

void Fetch::abandon() {
  abandoned_ = true;
  changed.notify_all();
}

void Fetch::lost(std::size_t chunk) {
  if (!plan_ || plan_->wants(chunk)) return;
  plan_->lost(chunk);
  done_bytes_ -= manifest_->chunk_size(chunk);
}

FetchProgress Fetch::progress() const {
  return {done_bytes_, manifest_ ? manifest_->size : 0, book_.useful()};
}

std::uint64_t Fetch::missing_bytes() const {
  return manifest_ && plan_ ? manifest_->size - done_bytes_ : 0;
}

Error Fetch::timed_out() const {
  auto const trouble = last_trouble_.empty() ? std::string() : cat("; last: ", last_trouble_);
  if (!manifest_)
    return Error{Errc::not_found,
                 cat("blob ", id_.text(), ": nobody has it (", book_.useful(), " asked)", trouble)};
  return Error{Errc::timeout,
               cat("blob ",
                   id_.text(),
                   ": ",
                   done_bytes_,
                   " of ",
                   manifest_->size,
                   " bytes came in time, ",
                   book_.useful(),
                   " providers",
                   trouble)};
}

Co<void> Fetch::run() {
  Scope scope(keeper_.host().runtime());
  auto ended = co_await work_to_the_end(scope);
  co_await scope.close();
  result_ = std::move(ended);
  changed.notify_all();
}

Co<Status> Fetch::work_to_the_end(Scope& scope) {
  auto& runtime = keeper_.host().runtime();
  manifest_ = keeper_.manifest(id_);
  if (manifest_) co_await keeper_.check_claims(id_);
  bool searching = false;
  for (;;) {
    if (abandoned_) co_return Error{Errc::cancelled, "nobody waits for the blob"};
    if (failure_) co_return *failure_;
    if (manifest_ && !plan_) {
      WAGGLE_CO_TRY_STATUS(co_await begin_plan());
      continue;
    }
    if (plan_ && plan_->complete()) break;
    if (!searching) {
      searching = true;
      scope.spawn("blob providers", find_more());
    }
    while (book_.streams() < keeper_.fetch_streams()) {
      auto const peer = book_.pick(runtime.now());
      if (!peer) break;
      scope.spawn("blob stream", use(*peer));
    }
    auto const wake =
        book_.streams() < keeper_.fetch_streams() ? book_.next_due(runtime.now()) : kNoDeadline;
    auto const waited = co_await changed.wait(wake);
    if (!waited && waited.error().code != Errc::timeout) co_return waited.error();
  }
  auto finish = [this] { return keeper_.disk().finish(id_, manifest_->size); };
  co_return co_await on(keeper_.executor(), runtime, std::move(finish));
}

Co<Status> Fetch::begin_plan() {
  auto held = keeper_.index().held(id_);
  held.resize(manifest_->chunks.size());
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < held.size(); ++i) done += held[i] ? manifest_->chunk_size(i) : 0;
  if (done < manifest_->size) {
    WAGGLE_CO_TRY_STATUS(co_await keeper_.make_room(id_, manifest_->size - done));
  }
  // Nothing was marked meanwhile: only this Fetch adds to this blob.
  done_bytes_ = done;
  plan_.emplace(std::move(held), keeper_.host().runtime().random_u64());
  changed.notify_all();
  co_return ok();
}

Co<void> Fetch::find_more() {
  auto& runtime = keeper_.host().runtime();
  Duration wait = kFirstLookupWait;
  for (;;) {
    auto found = co_await find_providers(keeper_.dht(), id_, runtime.now() + kLookupTimeout);
    if (found) {
      for (auto const& peer : *found) book_.add(peer, keeper_.host().connected(peer));
      if (!found->empty()) changed.notify_all();
    } else if (found.error().code == Errc::cancelled) {
      co_return;
    } else {
      last_trouble_ = found.error().detail;
    }
    auto const slept = co_await runtime.sleep_for(wait);
    if (!slept) co_return;
    wait = std::min(wait * 2, kLongestLookupWait);
  }
}

Co<void> Fetch::use(PeerId peer) {
  auto const how = co_await talk(peer);
  book_.ended(peer, how, keeper_.host().runtime().now());
  if (book_.banned(peer) && plan_) {
    log::info("blob",
              crypto::short_text(peer),
              " served wrong bytes of ",
              id_.text(),
              " and is not asked again");
    plan_->drop(peer);
  }
  changed.notify_all();
}

Ending Fetch::judge(PeerId const& peer, Error const& error) {
  last_trouble_ = cat(crypto::short_text(peer), ": ", error.detail);
  bool const lie = error.code == Errc::malformed || error.code == Errc::too_large;
  return lie ? Ending::lied : Ending::failed;
}

Co<Ending> Fetch::talk(PeerId peer) {
  auto& runtime = keeper_.host().runtime();
  auto opened = co_await keeper_.host().open(peer, kProtocol, runtime.now() + kOpenTimeout);
  if (!opened) {
    last_trouble_ = cat(crypto::short_text(peer), ": ", opened.error().detail);
    co_return Ending::failed;
  }
  auto const stream = std::move(*opened);
  if (manifest_) {
    if (!plan_) co_return Ending::greeted;  // room is still being made
    auto const how = co_await ask_chunks(*stream, peer);
    co_return how;
  }
  auto const how = co_await ask_manifest(*stream, peer);
  co_return how;
}

Co<Result<Answer>> Fetch::ask(net::Stream& stream, Request request, std::size_t limit) {
  auto const deadline = keeper_.host().runtime().now() + kAnswerTimeout;
  auto const frame = request.encode();
  WAGGLE_CO_TRY_STATUS(co_await net::write_frame(stream, frame, deadline));
  WAGGLE_CO_TRY(auto const answer, co_await net::read_frame(stream, limit, deadline));
  co_return Answer::decode(answer);
}

Co<Ending> Fetch::ask_manifest(net::Stream& stream, PeerId peer) {
  Request request;
  request.blob = id_;
  request.ask = Ask::manifest;
  auto const answer = co_await ask(stream, request, kMaxManifestAnswer);
  if (!answer) co_return judge(peer, answer.error());
  if (answer->said == Said::busy) co_return Ending::busy;
  if (answer->said == Said::not_held) co_return Ending::failed;
  if (manifest_) co_return Ending::greeted;
  if (crypto::sha256(answer->body) != id_.hash)
    co_return judge(peer, Error{Errc::malformed, "a manifest of another blob"});
  auto decoded = Manifest::decode(answer->body);
  if (!decoded) {
    // The hash fits: whoever named this blob made a bad one, and nobody can serve a better.
    // Refused, so that nobody waits for a larger disk.
    failure_ = Error{Errc::refused, decoded.error().detail};
    co_return Ending::greeted;
  }
  keeper_.index().put_manifest(id_, answer->body);
  manifest_ = std::make_shared<Manifest const>(std::move(*decoded));
  book_.gave(peer);
  co_return Ending::greeted;
}

Co<Ending> Fetch::ask_chunks(net::Stream& stream, PeerId peer) {
  auto& runtime = keeper_.host().runtime();
  Request request;
  request.blob = id_;
  request.ask = Ask::holding;
  {
    auto const answer = co_await ask(stream, request, kMaxHoldingAnswer);
    if (!answer) co_return judge(peer, answer.error());
    if (answer->said == Said::busy) co_return Ending::busy;
    if (answer->said == Said::not_held) co_return Ending::failed;
    auto holding = from_bitmap(answer->body, manifest_->chunks.size());
    if (!holding) co_return judge(peer, holding.error());
    plan_->set_holding(peer, std::move(*holding));
  }
  request.ask = Ask::chunk;
  while (auto const chunk = plan_->next(peer, runtime.now())) {
    request.chunk = static_cast<std::uint32_t>(*chunk);
    auto answer = co_await ask(stream, request, kMaxChunkAnswer);
    bool const denied = answer && answer->said == Said::not_held;
    if (!answer || answer->said != Said::ok) plan_->failed(peer, *chunk, denied);
    if (!answer) co_return judge(peer, answer.error());
    if (answer->said == Said::busy) co_return Ending::busy;
    if (denied || !plan_->wants(*chunk)) continue;  // the endgame's other peer was faster
    auto job = [this, manifest = manifest_, chunk = *chunk, a = std::move(*answer)]() mutable {
      return land(keeper_.disk(), id_, *manifest, chunk, std::move(a));
    };
    auto const landing = co_await on(keeper_.executor(), runtime, std::move(job));
    if (!landing.good) {
      plan_->failed(peer, *chunk, true);
      co_return judge(peer,
                      Error{Errc::malformed,
                            cat("chunk ", *chunk, " of ", id_.text(), " does not fit its hash")});
    }
    if (!landing.written) {
      plan_->failed(peer, *chunk, false);
      failure_ = landing.written.error();
      co_return Ending::drained;
    }
    book_.gave(peer);
    if (!plan_->wants(*chunk)) continue;
    plan_->arrived(*chunk);
    done_bytes_ += manifest_->chunk_size(*chunk);
    keeper_.index().mark_held(id_, *chunk);
    keeper_.stored(id_, manifest_->chunk_size(*chunk));
    changed.notify_all();
  }
  co_return Ending::drained;
}

}  // namespace waggle::blob::detail
