// SPDX-License-Identifier: MIT
#include "core/node/control/server.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/api/snapshot_json.hpp"
#include "core/node/control/detail/outbox.hpp"
#include "core/node/control/rights.hpp"

namespace waggle::node::control {
namespace {

constexpr Duration kFirstWord = std::chrono::seconds(10);
constexpr Duration kLook = std::chrono::milliseconds(200);  // for a snapshot newer than the last
constexpr Duration kLastWords = std::chrono::seconds(1);    // for a refusal to be read

constexpr std::string_view kNotPaired =
    "this machine does not know you; pair with it first: waggle pair";

std::string too_many_streams() {
  return cat("at most ", Server::kStreamsEach, " streams of one watcher");
}

}  // namespace

/// One paired watcher's stream.
struct Server::Watching {
  Watching(Runtime& runtime, PeerId who, net::Stream& pipe)
      : peer(who), stream(pipe), outbox(runtime), wanted_now(runtime) {}

  PeerId peer;
  net::Stream& stream;
  detail::Outbox outbox;
  Signal wanted_now;
  bool wanted = false;
  bool ended = false;
};

Server::Server(net::Host& host, Executor& compute, std::string name, Contacts paired, Hooks hooks)
    : host_(host),
      compute_(compute),
      name_(clean_name(name)),
      paired_(std::move(paired)),
      hooks_(std::move(hooks)),
      scope_(host.runtime()) {
}

Server::~Server() = default;

void Server::start() {
  started_ = true;
  serve_if_wanted();
}

Co<void> Server::close() {
  started_ = false;
  serving_ = false;
  registration_.reset();
  co_await scope_.close();
}

void Server::serve_if_wanted() {
  bool const wanted = started_ && (!paired_.empty() || window_.has_value());
  if (wanted == serving_) return;
  serving_ = wanted;
  if (!wanted) {
    registration_.reset();
    return;
  }
  std::weak_ptr<Server> const self = weak_from_this();
  registration_ = host_.serve(std::string(kProtocol), [self](net::Incoming incoming) {
    return accept(self, std::move(incoming));
  });
}

Status Server::remove(PeerId const& peer) {
  if (!paired_.remove(peer))
    return Error{Errc::not_found, cat(crypto::to_text(peer), " is not paired with this machine")};
  last_seen_.erase(peer);
  hooks_.keep(paired_);
  for (auto const& w : watching_)
    if (w->peer == peer) {
      w->outbox.push(encode(Reply(Refusal{Why::not_paired, std::string(kNotPaired)})));
      w->outbox.finish();
    }
  serve_if_wanted();
  return ok();
}

ControlView Server::view() const {
  auto& runtime = host_.runtime();
  ControlView view;
  view.served = true;
  for (auto const& c : paired_.all()) {
    WatcherView w;
    w.peer_id = crypto::to_text(c.peer);
    w.name = c.name;
    w.right = word(c.right);
    w.since = c.since;
    w.connected = std::any_of(watching_.begin(), watching_.end(), [&](auto const& other) {
      return other->peer == c.peer;
    });
    if (auto const seen = last_seen_.find(c.peer); seen != last_seen_.end())
      w.last_seen = seen->second;
    view.paired.push_back(std::move(w));
  }
  if (pairing_open())
    view.pairing_until = runtime.unix_time() + to_seconds(window_->until() - runtime.now());
  view.pairing_tries = wrong_tries_;
  return view;
}

wire::Multiaddr Server::address_of(PeerId const& peer) const {
  for (auto const& info : host_.peers())
    if (info.id == peer) return info.address;
  return {};
}

Co<void> Server::refuse(net::Stream& stream, Why why, std::string_view words) {
  auto const frame = encode(Reply(Refusal{why, std::string(words)}));
  auto const deadline = host_.runtime().now() + kRefusalTime;
  auto const written = co_await net::write_frame(stream, frame, deadline);
  if (!written) co_return;
  (void)co_await stream.close_write(deadline);
  co_await hear_out(stream);
}

// A stream that is dropped while the other end still writes may be reset before our last words are
// read there.
Co<void> Server::hear_out(net::Stream& stream) {
  auto const deadline = host_.runtime().now() + kLastWords;
  std::array<std::byte, 512> unread{};
  for (std::size_t heard = 0; heard < kMaxRequestBytes;) {
    auto const n = co_await stream.read_some(unread, deadline);
    if (!n || *n == 0) co_return;
    heard += *n;
  }
}

Co<void> Server::accept(std::weak_ptr<Server> weak, net::Incoming incoming) {
  auto const server = weak.lock();
  if (!server || server->scope_.cancelled()) co_return;
  if (server->paired_.find(incoming.remote) == nullptr) {
    if (!server->pairing_open()) {
      co_await server->refuse(*incoming.stream, Why::not_paired, kNotPaired);
      co_return;
    }
    if (server->strangers_.size() >= kMaxStrangers) {
      server->strangers_.front().stream->reset();
      server->strangers_.pop_front();
    }
    server->scope_.spawn(
        "control stranger",
        server->serve_stranger(std::make_shared<net::Incoming>(std::move(incoming))));
    co_return;
  }
  if (server->all_streams_ >= kMaxStreams || server->streams_[incoming.remote] >= kStreamsEach) {
    auto const words = too_many_streams();
    co_await server->refuse(*incoming.stream, Why::busy, words);
    co_return;
  }
  // Into our own scope, so that closing us ends it whatever the connection does.
  server->scope_.spawn("control watcher",
                       server->serve(std::make_shared<net::Incoming>(std::move(incoming))));
}

Co<void> Server::serve_stranger(std::shared_ptr<net::Incoming> incoming) {
  auto* const stream = incoming->stream.get();
  strangers_.push_back({incoming->remote, stream});
  co_await converse(*incoming);
  strangers_.remove_if([stream](Stranger const& s) { return s.stream == stream; });
}

Co<void> Server::serve(std::shared_ptr<net::Incoming> incoming) {
  ++all_streams_;
  ++streams_[incoming->remote];
  co_await converse(*incoming);
  --all_streams_;
  auto const count = streams_.find(incoming->remote);
  if (--count->second == 0) streams_.erase(count);
}

Co<void> Server::converse(net::Incoming& incoming) {
  auto const deadline = host_.runtime().now() + kFirstWord;
  auto const frame = co_await net::read_frame(*incoming.stream, kMaxRequestBytes, deadline);
  if (!frame) co_return;
  auto request = decode_request(*frame);
  if (!request) {
    log::debug("control", crypto::short_text(incoming.remote), ": ", request.error().detail);
    co_return;
  }
  if (auto const* const start = std::get_if<PairStart>(&*request)) {
    auto const begun = *start;
    co_await pair(incoming, begun);
  } else if (auto const* const hello = std::get_if<Hello>(&*request)) {
    auto const said = *hello;
    co_await watch(incoming, said);
  }
}

Co<void> Server::watch(net::Incoming& incoming, Hello hello) {
  auto& runtime = host_.runtime();
  auto const* const contact = paired_.find(incoming.remote);
  if (contact == nullptr) {
    co_await refuse(*incoming.stream, Why::not_paired, kNotPaired);
    co_return;
  }
  // Those that it opened before it was paired were not counted.
  auto const watched = std::count_if(watching_.begin(), watching_.end(), [&](auto const& other) {
    return other->peer == incoming.remote;
  });
  if (watching_.size() >= kMaxStreams || static_cast<std::size_t>(watched) >= kStreamsEach) {
    auto const words = too_many_streams();
    co_await refuse(*incoming.stream, Why::busy, words);
    co_return;
  }
  if (hello.version < kVersion) {
    auto const words = cat("version ", hello.version, " is not spoken here");
    co_await refuse(*incoming.stream, Why::version, words);
    co_return;
  }
  auto const watching = std::make_shared<Watching>(runtime, incoming.remote, *incoming.stream);
  watching->outbox.push(encode(Reply(Welcome{kVersion, name_, contact->right})));
  watching_.push_back(watching);
  Scope scope(runtime);
  scope.spawn("control write", write(watching));
  scope.spawn("control show", show(watching));
  co_await listen(watching);
  watching->ended = true;
  watching->outbox.drop();
  watching->wanted_now.notify_all();
  watching_.remove(watching);
  co_await scope.close();
}

Co<void> Server::write(std::shared_ptr<Watching> watching) {
  co_await watching->outbox.run(watching->stream);
  if (watching->ended) co_return;
  // Told to go: its last words are read, then nothing is.
  (void)co_await host_.runtime().sleep_for(kLastWords);
  watching->stream.reset();
}

Co<void> Server::listen(std::shared_ptr<Watching> watching) {
  auto& runtime = host_.runtime();
  for (;;) {
    auto const room = co_await watching->outbox.room();
    if (!room) {
      // Until the refusal is out, or the stream is gone.
      if (room.error().code == Errc::closed) (void)co_await runtime.sleep_for(kLastWords);
      co_return;
    }
    auto const deadline = runtime.now() + kIdle;
    auto const frame = co_await net::read_frame(watching->stream, kMaxRequestBytes, deadline);
    if (!frame) co_return;
    auto request = decode_request(*frame);
    if (!request) {
      log::debug("control", crypto::short_text(watching->peer), ": ", request.error().detail);
      co_return;
    }
    if (paired_.find(watching->peer) == nullptr) continue;  // what was sent before it knew
    last_seen_[watching->peer] = runtime.unix_time();
    if (std::holds_alternative<Next>(*request)) {
      watching->wanted = true;
      watching->wanted_now.notify_all();
    } else if (std::holds_alternative<Ping>(*request)) {
      watching->outbox.push(encode(Reply(Pong{})));
    } else if (auto* const order = std::get_if<Order>(&*request)) {
      auto given = std::move(*order);
      auto answer = co_await obey(watching->peer, std::move(given));
      watching->outbox.push(encode(Reply(std::move(answer))));
    } else {
      co_return;  // a greeting or a pairing in the middle
    }
  }
}

Co<Answer> Server::obey(PeerId peer, Order order) {
  Answer answer;
  answer.id = order.id;
  if (order.command.size() > kMaxCommandBytes) {
    answer.words = cat("a command of ", order.command.size(), " bytes; at most ", kMaxCommandBytes);
    co_return answer;
  }
  auto command = Command::from_json(order.command);
  if (!command) {
    answer.words = command.error().detail;
    co_return answer;
  }
  auto const* const contact = paired_.find(peer);
  auto const may = contact == nullptr ? Status(Error{Errc::refused, std::string(kNotPaired)})
                                      : may_give(contact->right, *command);
  if (!may) {
    answer.words = may.error().detail;
    co_return answer;
  }
  log::info("control", contact->name, " (", crypto::short_text(peer), "): ", order.command);
  auto given = *std::move(command);
  auto const done = co_await hooks_.command(std::move(given));
  answer.done = done.has_value();
  if (!done) answer.words = done.error().detail;
  co_return answer;
}

Co<void> Server::show(std::shared_ptr<Watching> watching) {
  auto& runtime = host_.runtime();
  TimePoint next = runtime.now();
  std::shared_ptr<Snapshot const> shown;
  while (!watching->ended) {
    if (!watching->wanted) {
      auto const woken = co_await watching->wanted_now.wait();
      if (!woken) co_return;
      continue;
    }
    auto const slept = co_await runtime.sleep_until(next);
    if (!slept) co_return;
    auto newest = hooks_.snapshot();
    if (!newest || newest == shown) {
      next = runtime.now() + kLook;
      continue;
    }
    // What was sent before is out: a slow reader gets the newest, not all.
    auto const room = co_await watching->outbox.room(1);
    if (!room) co_return;
    if (auto newer = hooks_.snapshot()) newest = std::move(newer);
    auto view = co_await packed(newest);
    next = runtime.now() + kViewPeriod;
    shown = std::move(newest);
    if (!view) {
      log::warning("control", view.error().detail);
      continue;
    }
    watching->wanted = false;
    watching->outbox.push(encode(Reply(*std::move(view))));
  }
}

Co<Result<View>> Server::packed(std::shared_ptr<Snapshot const> snapshot) {
  if (packed_ && packed_of_ == snapshot) co_return *packed_;
  auto work = [snapshot]() -> Result<View> {
    auto shown = *snapshot;
    shown.control = {};  // who else watches is the owner's to know
    return pack(to_json(shown));
  };
  auto view = co_await on(compute_, host_.runtime(), std::move(work));
  if (view) {
    packed_of_ = snapshot;
    packed_ = *view;
  }
  co_return view;
}

}  // namespace waggle::node::control
