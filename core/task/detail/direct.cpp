// SPDX-License-Identifier: MIT
#include "core/task/detail/direct.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::task::detail {
namespace {

constexpr Duration kServeTimeout = std::chrono::seconds(20);
constexpr std::size_t kMaxKeyText = 256;

}  // namespace

DirectServer::DirectServer(net::Host& host, Lookup lookup)
    : host_(host), lookup_(std::move(lookup)), scope_(host.runtime()) {
}

void DirectServer::start() {
  std::weak_ptr<DirectServer> const self = weak_from_this();
  registration_ = host_.serve(std::string(kTaskProtocol), [self](net::Incoming incoming) {
    return accept(self, std::move(incoming));
  });
}

Co<void> DirectServer::close() {
  registration_.reset();
  co_await scope_.close();
}

Co<void> DirectServer::accept(std::weak_ptr<DirectServer> weak, net::Incoming incoming) {
  auto const server = weak.lock();
  if (!server || server->scope_.cancelled() || server->scope_.size() >= kMaxStreams) co_return;
  server->scope_.spawn("task serve",
                       server->serve(std::make_shared<net::Incoming>(std::move(incoming))));
}

Co<void> DirectServer::serve(std::shared_ptr<net::Incoming> incoming) {
  auto const deadline = host_.runtime().now() + kServeTimeout;
  auto const key = co_await net::read_frame(*incoming->stream, kMaxKeyText, deadline);
  if (!key) co_return;
  auto const envelope = lookup_(as_text(*key)).value_or(Bytes{});
  auto const written = co_await net::write_frame(*incoming->stream, envelope, deadline);
  if (written) (void)co_await incoming->stream->close_write(deadline);
}

Co<Result<Bytes>> ask_directly(net::Host& host,
                               PeerId peer,
                               std::string key_text,
                               TimePoint deadline) {
  WAGGLE_CO_TRY(auto const stream, co_await host.open(peer, kTaskProtocol, deadline));
  auto const question = as_bytes(key_text);
  WAGGLE_CO_TRY_STATUS(co_await net::write_frame(*stream, question, deadline));
  WAGGLE_CO_TRY(auto envelope, co_await net::read_frame(*stream, TaskRecord::kMaxBytes, deadline));
  if (envelope.empty())
    co_return Error{Errc::not_found, cat(crypto::short_text(peer), " has no record at ", key_text)};
  co_return std::move(envelope);
}

}  // namespace waggle::task::detail
