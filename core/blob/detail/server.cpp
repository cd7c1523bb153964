// SPDX-License-Identifier: MIT
#include "core/blob/detail/server.hpp"

#include "core/base/compute.hpp"
#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::blob::detail {
namespace {

constexpr Duration kIdleTimeout = std::chrono::seconds(60);
constexpr Duration kAnswerTimeout = std::chrono::seconds(60);
constexpr Duration kQueueTimeout = std::chrono::seconds(20);
constexpr Duration kRefusalTimeout = std::chrono::seconds(5);

Answer said(Said what) {
  Answer answer;
  answer.said = what;
  return answer;
}

}  // namespace

Server::Server(Keeper& keeper, std::size_t streams_each, Hooks hooks)
    : keeper_(keeper),
      streams_each_(streams_each),
      hooks_(std::move(hooks)),
      scope_(keeper.host().runtime()),
      freed_(keeper.host().runtime()) {
}

void Server::start() {
  std::weak_ptr<Server> const self = weak_from_this();
  registration_ = keeper_.host().serve(std::string(kProtocol), [self](net::Incoming incoming) {
    return accept(self, std::move(incoming));
  });
}

Co<void> Server::close() {
  registration_.reset();
  co_await scope_.close();
}

Co<void> Server::accept(std::weak_ptr<Server> weak, net::Incoming incoming) {
  auto const server = weak.lock();
  if (!server || server->scope_.cancelled()) co_return;
  auto const load = server->loads_.find(incoming.remote);
  bool const crowded =
      load != server->loads_.end() && load->second.streams >= server->streams_each_;
  if (crowded || server->streams_ >= kMaxStreams) {
    auto const frame = said(Said::busy).encode();
    (void)co_await net::write_frame(
        *incoming.stream, frame, server->keeper_.host().runtime().now() + kRefusalTimeout);
    co_return;
  }
  ++server->streams_;
  ++server->loads_[incoming.remote].streams;
  // Into our own scope, so that closing us ends it whatever the connection does.
  server->scope_.spawn("blob serve",
                       server->serve(std::make_shared<net::Incoming>(std::move(incoming))));
}

Co<void> Server::serve(std::shared_ptr<net::Incoming> incoming) {
  co_await converse(*incoming->stream, incoming->remote);
  --streams_;
  auto const load = loads_.find(incoming->remote);
  if (--load->second.streams == 0) loads_.erase(load);
}

void Server::leave(PeerId const& peer) {
  --busy_;
  --loads_[peer].busy;
  freed_.notify_all();
}

Co<void> Server::converse(net::Stream& stream, PeerId peer) {
  auto& runtime = keeper_.host().runtime();
  for (;;) {
    auto const frame =
        co_await net::read_frame(stream, kMaxRequestBytes, runtime.now() + kIdleTimeout);
    if (!frame) co_return;
    auto const request = Request::decode(*frame);
    if (!request) {
      log::debug("blob", crypto::short_text(peer), ": ", request.error().detail);
      co_return;
    }
    bool queued = true;
    auto const give_up = runtime.now() + kQueueTimeout;
    while (queued && (busy_ >= kMaxBusy || loads_[peer].busy >= kBusyEach)) {
      auto const waited = co_await freed_.wait(give_up);
      if (!waited && waited.error().code != Errc::timeout) co_return;
      queued = waited.has_value();
    }
    if (!queued) {
      auto const busy = said(Said::busy).encode();
      auto const written = co_await net::write_frame(stream, busy, runtime.now() + kRefusalTimeout);
      if (!written) co_return;
      continue;
    }
    ++busy_;
    ++loads_[peer].busy;
    auto const reply = co_await answer(*request);
    auto const bytes = reply.encode();
    auto const written = co_await net::write_frame(stream, bytes, runtime.now() + kAnswerTimeout);
    leave(peer);
    if (!written) co_return;
    bytes_served_ += bytes.size();
  }
}

Co<Answer> Server::answer(Request request) {
  if (!hooks_.served(request.blob)) co_return said(Said::not_held);
  auto const manifest = keeper_.manifest(request.blob);
  if (!manifest) co_return said(Said::not_held);
  Answer reply;
  if (request.ask == Ask::manifest) {
    reply.body = manifest->encode();
    co_return reply;
  }
  if (request.ask == Ask::holding) {
    auto held = keeper_.index().held(request.blob);
    held.resize(manifest->chunks.size());
    reply.body = to_bitmap(held);
    co_return reply;
  }
  auto chunk = co_await chunk_answer(request);
  co_return chunk;
}

Co<Answer> Server::chunk_answer(Request request) {
  auto const manifest = keeper_.manifest(request.blob);
  auto const held = keeper_.index().held(request.blob);
  std::size_t const chunk = request.chunk;
  if (chunk >= manifest->chunks.size() || chunk >= held.size() || !held[chunk])
    co_return said(Said::not_held);
  auto job = [this, manifest, request, chunk]() -> Result<Answer> {
    WAGGLE_TRY(auto bytes,
               keeper_.disk().read(
                   request.blob, chunk, manifest->chunk_size(chunk), manifest->chunks[chunk]));
    return pack(std::move(bytes));
  };
  auto reply = co_await on(keeper_.executor(), keeper_.host().runtime(), std::move(job));
  if (reply) co_return std::move(*reply);
  log::warning("blob", reply.error().detail);
  if (reply.error().code == Errc::malformed || reply.error().code == Errc::not_found)
    hooks_.torn(request.blob, chunk);
  co_return said(Said::not_held);
}

}  // namespace waggle::blob::detail
