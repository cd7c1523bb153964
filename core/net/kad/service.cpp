// SPDX-License-Identifier: MIT
#include "core/net/kad/service.hpp"

#include <algorithm>
#include <set>

#include "core/base/assert.hpp"
#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/kad/lookup.hpp"
#include "core/net/kad/table.hpp"

namespace waggle::net::kad {
namespace {

constexpr Duration kRequestPatience = std::chrono::seconds(10);  // of all known callers
constexpr Duration kIdle = std::chrono::seconds(60);
constexpr Duration kHeardTtl = std::chrono::minutes(2);
// After the first answer that names the target: time for others to add what they know. Longer eats
// the 3 s that hivemind allows a whole call, shorter lets one liar's answer be the only one.
constexpr Duration kGrace = std::chrono::milliseconds(250);
// Between two lookups for ourselves while the table is still growing.
constexpr Duration kBootstrapPeriod = std::chrono::seconds(5);
constexpr std::size_t kMaxProbes = 32;
// Requests hold a key and at most a record or a few addresses.
constexpr std::size_t kMaxRequestBytes = 64u << 10;
constexpr std::size_t kMaxKeyBytes = 1024;

}  // namespace

struct Service::State {
  State(Host& h, AddressBook& b, ServiceOptions o)
      : host(h), book(b), options(o), table(h.self()), grown(h.runtime()), scope(h.runtime()) {}

  Runtime& runtime() noexcept { return host.runtime(); }

  [[nodiscard]] std::vector<PeerEntry> closest(ByteView key, PeerId const& asker) const;
  [[nodiscard]] PeerEntry entry_of(PeerId const& peer) const;
  [[nodiscard]] std::optional<Bytes> answer(PeerId const& asker, ByteView request) const;
  Co<Result<Message>> ask(PeerId peer, Bytes key, TimePoint deadline);
  Co<void> probe(PeerId peer);
  Co<void> refresh();
  void confirmed(PeerId const& peer);

  Host& host;
  AddressBook& book;
  ServiceOptions options;
  Table table;
  Signal grown;
  bool grew = false;  // since the last lookup for ourselves began
  std::set<PeerId> probing;
  std::multiset<PeerId>
      asking;  // whom we open streams to: the Swarm's own call for help must not recurse
  Registration registration;
  bool closed = false;
  Scope scope;
};

namespace {

/// What one search shares with the questions it has under way.
struct Search {
  Search(Runtime& runtime,
         PeerId const& t,
         Id const& id,
         PeerId const& self,
         std::span<PeerId const> seeds)
      : target(t), lookup(id, self, seeds), changed(runtime) {}

  PeerId target;
  Lookup lookup;
  std::vector<wire::Multiaddr> found;
  Signal changed;
};

template <class State>
Co<void> question(State& state, Search& search, PeerId peer, TimePoint deadline) {
  Bytes key = to_bytes(search.target.bytes());
  auto const answer = co_await state.ask(peer, std::move(key), deadline);
  if (!answer) {
    search.lookup.failed(peer);
    if (answer.error().code != Errc::cancelled) state.table.remove(peer);
  } else {
    for (auto const& entry : answer->closer_peers) {
      if (entry.id == state.host.self()) continue;
      state.book.add(entry.id, entry.addresses, kHeardTtl);
      if (entry.id != search.target) continue;
      for (auto const& address : entry.addresses)
        if (std::find(search.found.begin(), search.found.end(), address) == search.found.end())
          search.found.push_back(address);
    }
    search.lookup.answered(peer, answer->closer_peers);
  }
  search.changed.notify_all();
}

/// Runs the search until it is done, or, if `stop_early`, until kGrace after the target was named.
template <class State>
Co<Status> search_all(State& state, Search& search, bool stop_early, TimePoint deadline) {
  Scope scope(state.runtime());
  TimePoint until = deadline;
  Status outcome = ok();
  while (!search.lookup.done()) {
    while (auto const peer = search.lookup.next())
      scope.spawn("kad question", question(state, search, *peer, deadline));
    if (search.lookup.in_flight() == 0) break;
    if (stop_early && !search.found.empty() && until == deadline)
      until = std::min(deadline, state.runtime().now() + kGrace);
    auto waited = co_await search.changed.wait(until);
    if (waited) continue;
    if (waited.error().code == Errc::cancelled || search.found.empty())
      outcome = std::move(waited).error();
    break;
  }
  co_await scope.close();
  co_return outcome;
}

template <class State>
Co<void> serve(std::shared_ptr<State> state, Incoming incoming) {
  Stream& stream = *incoming.stream;
  for (;;) {
    auto const request =
        co_await read_frame(stream, kMaxRequestBytes, state->runtime().now() + kIdle);
    if (!request) co_return;
    auto const answer = state->answer(incoming.remote, *request);
    if (!answer) co_return;
    if (answer->empty()) continue;
    auto const written = co_await write_frame(stream, *answer, state->runtime().now() + kIdle);
    if (!written) co_return;
  }
}

}  // namespace

Service::Service(Host& host, AddressBook& book, ServiceOptions options)
    : state_(std::make_shared<State>(host, book, options)) {
  if (options.server_mode) {
    // The handlers share the state, because they may outlast us; close() breaks the circle.
    Handler handler = [state = state_](Incoming incoming) {
      return serve(state, std::move(incoming));
    };
    state_->registration = host.serve(kProtocol, std::move(handler));
  }
  state_->scope.spawn("kad refresh", state_->refresh());
}

Service::~Service() {
  WAGGLE_ASSERT(state_->closed, "a kad::Service is closed before it is destroyed");
}

Co<void> Service::close() {
  state_->closed = true;
  state_->registration.reset();
  co_await state_->scope.close();
}

std::size_t Service::table_size() const noexcept {
  return state_->table.size();
}

PeerEntry Service::State::entry_of(PeerId const& peer) const {
  PeerEntry entry{peer, book.addresses(peer), Connection::not_connected};
  if (host.connected(peer)) entry.connection = Connection::connected;
  return entry;
}

std::vector<PeerEntry> Service::State::closest(ByteView key, PeerId const& asker) const {
  std::vector<PeerEntry> peers;
  for (auto const& contact : table.closest(Id::of(key), Table::kBucketSize, asker)) {
    auto entry = entry_of(contact.peer);
    if (!entry.addresses.empty()) peers.push_back(std::move(entry));
  }
  return peers;
}

std::optional<Bytes> Service::State::answer(PeerId const& asker, ByteView request) const {
  auto message = Message::decode(request);
  if (!message || message->key.size() > kMaxKeyBytes) return std::nullopt;
  if (message->type == MessageType::ping) return to_bytes(request);
  if (message->type == MessageType::add_provider) return Bytes{};
  if (message->type == MessageType::put_value || message->key.empty()) return std::nullopt;

  Message answer;
  answer.type = message->type;
  if (message->type != MessageType::find_node) answer.key = message->key;
  auto const target = PeerId::from_bytes(message->key);
  if (message->type == MessageType::find_node && target == host.self()) {
    PeerEntry ourselves{host.self(), {}, Connection::connected};
    for (auto const& address : host.addresses())
      ourselves.addresses.push_back(address.without_peer_id());
    if (!ourselves.addresses.empty()) answer.closer_peers.push_back(std::move(ourselves));
    return answer.encode();
  }
  answer.closer_peers = closest(message->key, asker);
  bool const listed = std::any_of(answer.closer_peers.begin(),
                                  answer.closer_peers.end(),
                                  [&](PeerEntry const& e) { return e.id == target; });
  if (message->type == MessageType::find_node && target && *target != asker && !listed) {
    auto entry = entry_of(*target);
    if (!entry.addresses.empty()) answer.closer_peers.push_back(std::move(entry));
  }
  return answer.encode();
}

std::optional<Bytes> Service::answer(PeerId const& asker, ByteView request) const {
  return state_->answer(asker, request);
}

void Service::State::confirmed(PeerId const& peer) {
  bool const fresh = !table.contains(peer);
  if (!table.confirm(peer, runtime().now()) || !fresh) return;
  grew = true;
  grown.notify_all();
}

Co<Result<Message>> Service::State::ask(PeerId peer, Bytes key, TimePoint deadline) {
  deadline = std::min(deadline, runtime().now() + kRequestPatience);
  asking.insert(peer);
  auto opened = co_await host.open(peer, kProtocol, deadline);
  asking.erase(asking.find(peer));
  if (!opened) co_return std::move(opened).error();
  auto const stream = std::move(*opened);
  Message request;
  request.type = MessageType::find_node;
  request.key = std::move(key);
  Bytes const body = request.encode();
  WAGGLE_CO_TRY_STATUS(co_await write_frame(*stream, body, deadline));
  WAGGLE_CO_TRY(auto const frame, co_await read_frame(*stream, kMaxMessageBytes, deadline));
  (void)co_await stream->close_write(deadline);
  auto answer = Message::decode(frame);
  if (answer && answer->type != MessageType::find_node)
    co_return Error{Errc::malformed,
                    cat("kad: ", crypto::short_text(peer), " answers another question")};
  if (answer) confirmed(peer);
  co_return answer;
}

// As go does before a peer enters its table: it must know itself.
Co<void> Service::State::probe(PeerId peer) {
  Bytes key = to_bytes(peer.bytes());
  auto const answer = co_await ask(peer, std::move(key), runtime().now() + kRequestPatience);
  if (!answer || answer->closer_peers.empty()) table.remove(peer);
  probing.erase(peer);
}

// Looks ourselves up, so that our neighbours and we know each other: soon after the table has
// grown, and now and then. Takes out who has been silent for too long.
Co<void> Service::State::refresh() {
  for (;;) {
    TimePoint const next = runtime().now() + options.refresh_period;
    while (!grew && runtime().now() < next) {
      auto waited = co_await grown.wait(next);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
    }
    auto slept = co_await runtime().sleep_for(kBootstrapPeriod);
    if (!slept) co_return;
    grew = false;
    for (auto const& peer : table.silent_since(runtime().now() - options.refresh_period)) {
      if (probing.size() >= kMaxProbes) break;
      if (probing.insert(peer).second) scope.spawn("kad probe", probe(peer));
    }
    std::vector<PeerId> seeds;
    for (auto const& contact : table.closest(table.self(), Table::kBucketSize))
      seeds.push_back(contact.peer);
    Search search(runtime(), host.self(), table.self(), host.self(), seeds);
    auto const searched =
        co_await search_all(*this, search, false, runtime().now() + 2 * kRequestPatience);
    if (!searched && searched.error().code == Errc::cancelled) co_return;
  }
}

void Service::identified(PeerId const& peer,
                         std::vector<std::string> const& protocols,
                         std::vector<wire::Multiaddr> const&) {
  State& s = *state_;
  if (s.closed || peer == s.host.self()) return;
  bool const server = std::find(protocols.begin(), protocols.end(), kProtocol) != protocols.end();
  if (!server) {
    s.table.remove(peer);
    return;
  }
  if (s.table.contains(peer) || !s.table.has_room(peer) || s.probing.size() >= kMaxProbes) return;
  if (s.probing.insert(peer).second) s.scope.spawn("kad probe", s.probe(peer));
}

void Service::disconnected(PeerId const&) {
}

Co<Result<std::vector<wire::Multiaddr>>> Service::find_peer(PeerId peer, TimePoint deadline) {
  auto const state = state_;
  if (state->closed) co_return Error{Errc::cancelled, "peer routing is closed"};
  if (state->asking.contains(peer))
    co_return Error{Errc::not_found, cat(crypto::short_text(peer), " is known from hearsay only")};
  Id const id = Id::of(peer);
  std::vector<PeerId> seeds;
  for (auto const& contact : state->table.closest(id, Table::kBucketSize))
    seeds.push_back(contact.peer);
  if (seeds.empty()) co_return Error{Errc::not_found, "peer routing knows nobody to ask"};
  Search search(state->runtime(), peer, id, state->host.self(), seeds);
  auto searched = co_await search_all(*state, search, true, deadline);
  if (!searched && (search.found.empty() || searched.error().code == Errc::cancelled))
    co_return std::move(searched).error();
  if (search.found.empty())
    co_return Error{
        Errc::not_found,
        cat(search.lookup.asked(), " peers were asked, none knows ", crypto::to_text(peer))};
  co_return std::move(search.found);
}

}  // namespace waggle::net::kad
