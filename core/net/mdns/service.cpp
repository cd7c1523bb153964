// SPDX-License-Identifier: MIT
#include "core/net/mdns/service.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/net/mdns/detail/group.hpp"

namespace waggle::net::mdns {
namespace {

constexpr Duration kFirstAsk = std::chrono::seconds(1);
constexpr Duration kAskEvery = std::chrono::minutes(1);
// Before an answer, so that not all of a network answer at once (RFC 6762 section 6).
constexpr Duration kLeastDelay = std::chrono::milliseconds(20);
constexpr double kMostDelay = 0.1;  // seconds, beside that
constexpr Duration kAnswerEvery = std::chrono::seconds(1);
constexpr Duration kCountOver = std::chrono::seconds(1);

}  // namespace

Service::Service(Host& host, bool loopback, Found found)
    : host_(host),
      loopback_(loopback),
      found_(std::move(found)),
      name_(peer_name(host.runtime())),
      asked_(host.runtime()),
      scope_(host.runtime()) {
}

Service::~Service() = default;

Status Service::open() {
  Error last{Errc::io, "no socket"};
  for (bool const ip6 : {false, true}) {
    auto group = detail::Group::open(host_.runtime(), ip6);
    if (group)
      groups_.push_back(*std::move(group));
    else
      last = std::move(group).error();
  }
  if (groups_.empty()) return last;
  for (auto const& group : groups_) scope_.spawn("mdns listen", listen(*group));
  scope_.spawn("mdns ask", ask());
  scope_.spawn("mdns answer", answer());
  return ok();
}

Co<void> Service::close() {
  for (auto const& group : groups_) group->close();
  co_await scope_.close();
}

// Networks come and go while a laptop moves.
void Service::look_at_interfaces() {
  interfaces_ = detail::interfaces(loopback_);
  for (auto const& group : groups_)
    for (auto const& interface : interfaces_) group->join(interface);
}

// Our own question reaches us too, so each is followed by our answer: who came before us hears of
// us at once.
Co<void> Service::ask() {
  auto& runtime = host_.runtime();
  auto const question = query();
  auto wait = kFirstAsk;
  for (;;) {
    look_at_interfaces();
    for (auto const& group : groups_)
      for (auto const& interface : interfaces_) group->send(interface, question);
    auto const slept = co_await runtime.sleep_for(wait);
    if (!slept) co_return;
    wait = std::min(wait * 2, kAskEvery);
  }
}

Co<void> Service::answer() {
  auto& runtime = host_.runtime();
  for (;;) {
    while (!must_answer_) {
      auto const woken = co_await asked_.wait();
      if (!woken) co_return;
    }
    auto const delayed =
        co_await runtime.sleep_for(kLeastDelay + seconds(kMostDelay * runtime.random_unit()));
    if (!delayed) co_return;
    must_answer_ = false;
    auto const all = host_.addresses();
    for (auto const& interface : interfaces_) {
      // What an interface is not reached by is nothing to those behind it.
      std::vector<wire::Multiaddr> own;
      for (auto const& address : all) {
        auto const target = address.tcp_target();
        if (target && (std::ranges::find(interface.ip4, target->host) != interface.ip4.end() ||
                       std::ranges::find(interface.ip6, target->host) != interface.ip6.end()))
          own.push_back(address);
      }
      auto const bytes = mdns::answer(name_, host_.self(), own);
      if (bytes.empty()) continue;
      for (auto const& group : groups_) group->send(interface, bytes);
    }
    auto const rested = co_await runtime.sleep_for(kAnswerEvery);
    if (!rested) co_return;
  }
}

Co<void> Service::listen(detail::Group& group) {
  auto& runtime = host_.runtime();
  TimePoint since = runtime.now();
  int count = 0;
  for (;;) {
    auto const datagram = co_await group.receive();
    if (!datagram) {
      if (datagram.error().code != Errc::cancelled)
        log::debug("net", "multicast DNS ended: ", datagram.error().detail);
      co_return;
    }
    take(datagram->bytes, datagram->from);
    if (++count < kMostASecond) continue;
    // In a flood the kernel drops what does not fit into its buffer.
    auto const slept = co_await runtime.sleep_until(since + kCountOver);
    if (!slept) co_return;
    since = runtime.now();
    count = 0;
  }
}

void Service::take(ByteView bytes, std::string_view from) {
  auto const source = source_of(from);
  if (source == Source::elsewhere) return;
  auto const message = Message::decode(bytes);
  if (!message) {
    log::debug("net", "multicast DNS from ", from, ": ", message.error().detail);
    return;
  }
  if (asks_for_peers(*message)) {
    must_answer_ = true;
    asked_.notify_all();
  }
  for (auto const& peer : peers_in(*message, source))
    if (peer.id != host_.self()) found_(peer);
}

}  // namespace waggle::net::mdns
