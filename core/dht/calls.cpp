// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/detail/state.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::dht {
namespace {

// Wire-stable: hivemind's names.
constexpr std::string_view kPing = "DHTProtocol.rpc_ping";
constexpr std::string_view kStore = "DHTProtocol.rpc_store";
constexpr std::string_view kFind = "DHTProtocol.rpc_find";

}  // namespace

void Dht::State::serve() {
  if (options.client_mode) return;
  auto self = shared_from_this();
  served.push_back(
      net::rpc::serve_unary(host, std::string(kPing), [self](PeerId caller, Bytes request) {
        return on_ping(self, caller, std::move(request));
      }));
  served.push_back(
      net::rpc::serve_unary(host, std::string(kStore), [self](PeerId caller, Bytes request) {
        return on_store(self, caller, std::move(request));
      }));
  served.push_back(
      net::rpc::serve_unary(host, std::string(kFind), [self](PeerId caller, Bytes request) {
        return on_find(self, caller, std::move(request));
      }));
}

std::optional<Id> Dht::State::advertised() const {
  return options.client_mode ? std::nullopt : std::optional(id);
}

TimePoint Dht::State::call_deadline(PeerId const& peer, TimePoint deadline) const {
  // A dial over a long line takes several round trips before the call's own two.
  auto const patience = host.connected(peer) ? options.wait_timeout : 2 * options.wait_timeout;
  return std::min(deadline, runtime.now() + patience);
}

Co<Result<PingResponse>> Dht::State::ping(PeerId peer,
                                          bool validate,
                                          Trust trust,
                                          TimePoint deadline) {
  PingRequest request;
  request.node = advertised();
  request.validate = validate;
  Bytes const bytes = request.encode();
  ++counters.calls;
  (void)time();  // notices a clock that was set
  double const sent = runtime.unix_time();
  auto const answer = co_await net::rpc::call_unary(host, peer, kPing, bytes, deadline);
  if (!answer) {
    ++counters.calls_failed;
    co_return answer.error();
  }
  auto response = PingResponse::decode(*answer);
  if (!response) {
    ++counters.calls_failed;
    co_return std::move(response).error();
  }
  if (trust == Trust::chosen) clock.sample(peer, sent, runtime.unix_time(), response->dht_time);
  if (response->node) {
    Contact const contact{*response->node, peer};
    seen(contact);
  }
  co_return response;
}

Co<Result<StoreResponse>> Dht::State::call_store(Contact contact,
                                                 std::vector<StoreItem> items,
                                                 TimePoint deadline) {
  StoreRequest request;
  request.node = advertised();
  request.items = std::move(items);
  Bytes const bytes = request.encode();
  ++counters.calls;
  auto const answer = co_await net::rpc::call_unary(host, contact.peer, kStore, bytes, deadline);
  auto response = answer ? StoreResponse::decode(*answer) : Result<StoreResponse>(answer.error());
  if (!response) {
    ++counters.calls_failed;
    unanswered(contact, response.error());
  } else if (response->node) {
    Contact const who{*response->node, contact.peer};
    seen(who);
  }
  co_return response;
}

Co<Result<FindResponse>> Dht::State::call_find(Contact contact,
                                               std::vector<Id> keys,
                                               TimePoint deadline) {
  FindRequest request;
  request.node = advertised();
  std::size_t const expected = keys.size();
  request.keys = std::move(keys);
  Bytes const bytes = request.encode();
  ++counters.calls;
  auto const answer = co_await net::rpc::call_unary(host, contact.peer, kFind, bytes, deadline);
  auto response = answer ? FindResponse::decode(*answer) : Result<FindResponse>(answer.error());
  if (response && response->results.size() != expected)
    response = Error{Errc::malformed,
                     cat("rpc_find of ",
                         crypto::short_text(contact.peer),
                         ": ",
                         response->results.size(),
                         " results for ",
                         expected,
                         " keys")};
  if (!response) {
    if (response.error().code == Errc::cancelled) co_return response;
    ++counters.calls_failed;
    blacklist.failed(contact.peer, runtime.now());
    unanswered(contact, response.error());
    co_return response;
  }
  blacklist.succeeded(contact.peer);
  if (response->node) {
    Contact const who{*response->node, contact.peer};
    seen(who);
  }
  co_return response;
}

Co<Result<Bytes>> Dht::State::on_ping(std::shared_ptr<State> self, PeerId caller, Bytes request) {
  auto const ping = PingRequest::decode(request);
  if (!ping) {
    ++self->counters.malformed;
    co_return ping.error();
  }
  ++self->counters.pings_served;
  PingResponse out;
  out.node = self->id;
  out.dht_time = self->time();
  if (ping->node && ping->validate) {
    // The caller waits for us while we call it: it must serve while it waits.
    TimePoint const deadline = self->runtime.now() + self->options.wait_timeout;
    auto const back = co_await self->ping(caller, false, Trust::caller, deadline);
    out.available = back && back->node == ping->node;
    if (!out.available) self->table.remove(*ping->node);
  }
  if (ping->node && (out.available || !ping->validate)) {
    Contact const contact{*ping->node, caller};
    self->seen(contact);
  }
  co_return out.encode();
}

Co<Result<Bytes>> Dht::State::on_store(std::shared_ptr<State> self, PeerId caller, Bytes request) {
  auto const store = StoreRequest::decode(request);
  if (!store) {
    ++self->counters.malformed;
    co_return store.error();
  }
  ++self->counters.stores_served;
  auto const answer =
      answer_store(*store, caller, &self->id, self->records, self->validators, self->time());
  if (!answer) {
    ++self->counters.malformed;
    co_return answer.error();
  }
  for (bool const taken : answer->store_ok)
    ++(taken ? self->counters.records_taken : self->counters.records_refused);
  // After the records, so that a newcomer is not handed what it has just brought.
  if (store->node) {
    Contact const contact{*store->node, caller};
    self->seen(contact);
  }
  co_return answer->encode();
}

Co<Result<Bytes>> Dht::State::on_find(std::shared_ptr<State> self, PeerId caller, Bytes request) {
  auto const find = FindRequest::decode(request);
  if (!find) {
    ++self->counters.malformed;
    co_return find.error();
  }
  ++self->counters.finds_served;
  if (find->node) {
    Contact const contact{*find->node, caller};
    self->seen(contact);
  }
  auto const answer =
      answer_find(*find, self->table, self->options.bucket_size, self->records, self->time());
  co_return answer.encode();
}

void Dht::State::seen(Contact const& contact) {
  if (contact.id == id || contact.peer == host.self() || scope.cancelled()) return;
  if (!table.contains(contact.id)) hand_over(contact);
  start_upkeep();
  auto const oldest = table.seen(contact, runtime.now());
  if (oldest) {
    Contact const candidate = *oldest;
    background("ping", confirm(candidate));
  }
}

void Dht::State::unanswered(Contact const& contact, Error const& why) {
  if (why.code == Errc::cancelled) return;
  if (why.code == Errc::refused) {
    // It lives but serves no DHT, or not for us.
    table.remove(contact.id);
    return;
  }
  if (!table.contains(contact.id)) return;
  table.failed(contact.id);
  background("confirm", confirm(contact));
}

}  // namespace waggle::dht
