// SPDX-License-Identifier: MIT
#include "tests/sim/memory_host.hpp"

#include <algorithm>
#include <array>

#include "core/base/assert.hpp"
#include "core/crypto/hash.hpp"

namespace waggle::sim {
namespace {

// TCP, then Noise with its selection, then the muxer's: what a first contact costs.
constexpr int kDialRoundTrips = 3;

// Holds the handler: it may be a lambda whose coroutine refers to its captures.
Co<void> run_handler(std::shared_ptr<net::Handler> handler, net::Incoming incoming) {
  auto work = (*handler)(std::move(incoming));
  co_await std::move(work);
}

}  // namespace

PeerId peer(std::uint64_t n) {
  std::array<std::byte, 8> number;
  store_be(MutableBytes(number), n);
  auto const key = crypto::sha256(number);
  Bytes id;
  for (int const b : {0x00, 0x24, 0x08, 0x01, 0x12, 0x20}) id.push_back(static_cast<std::byte>(b));
  append(id, key);
  return *PeerId::from_bytes(id);
}

MemoryNetwork::MemoryNetwork(Runtime& runtime, Links links)
    : runtime_(runtime), links_(std::move(links)) {
}

MemoryHost* MemoryNetwork::find(PeerId const& id) const {
  auto const found = index_.find(id);
  return found == index_.end() ? nullptr : places_[found->second].host;
}

std::uint32_t MemoryNetwork::enter(PeerId const& id, MemoryHost& host) {
  auto const [found, fresh] = index_.try_emplace(id, static_cast<std::uint32_t>(places_.size()));
  if (fresh) {
    places_.push_back({id, nullptr, std::make_shared<Uplink>()});
    places_.back().uplink->bytes_per_second = links_.bytes_per_second;
  }
  auto& place = places_[found->second];
  WAGGLE_ASSERT(place.host == nullptr, "two live hosts with one PeerId");
  place.host = &host;
  return found->second;
}

void MemoryNetwork::leave(std::uint32_t index) {
  places_[index].host = nullptr;
}

bool MemoryNetwork::cut(std::uint32_t a, std::uint32_t b) const {
  return links_.cut && links_.cut(a, b);
}

Path MemoryNetwork::path(std::uint32_t from, std::uint32_t to) {
  Path path;
  if (links_.latency) path.latency = links_.latency(from, to);
  if (links_.jitter > 0)
    path.latency += seconds(to_seconds(path.latency) * links_.jitter * runtime_.random_unit());
  path.loss = links_.loss;
  path.window = links_.window;
  path.uplink = places_[from].uplink;
  path.cut = [this, from, to] { return cut(from, to); };
  return path;
}

MemoryHost::MemoryHost(MemoryNetwork& network, PeerId self) : MemoryHost(network, self, Options{}) {
}

MemoryHost::MemoryHost(MemoryNetwork& network, PeerId self, Options options)
    : network_(network),
      self_(self),
      options_(options),
      index_(network.enter(self, *this)),
      handlers_(network.runtime()) {
}

MemoryHost::~MemoryHost() {
  kill();
}

// A round trip and, at first contact, a dial. Errors as Host::open.
Co<Status> MemoryHost::reach(PeerId peer, TimePoint deadline, int extra_round_trips) {
  if (!alive_) co_return Error{Errc::closed, "this host is dead"};
  if (peer == self_) co_return Error{Errc::refused, "a host does not dial itself"};
  auto const found = network_.index_.find(peer);
  if (found == network_.index_.end()) co_return Error{Errc::not_found, "nobody has this PeerId"};
  std::uint32_t const there = found->second;
  bool const known = !options_.needs_addresses || connections_.contains(there) ||
                     known_.contains(peer) ||
                     (options_.book != nullptr && !options_.book->addresses(peer).empty());
  if (!known) co_return Error{Errc::not_found, "no address of this peer is known"};

  int const round_trips = extra_round_trips + (connections_.contains(there) ? 0 : kDialRoundTrips);
  Duration const one_way = network_.path(index_, there).latency;
  Duration const needed = 2 * one_way * round_trips;
  bool const dead = network_.places_[there].host == nullptr;
  bool const silent = network_.cut(index_, there) || (dead && !network_.links_.dead_hosts_refuse);
  TimePoint const ready = runtime().now() + (dead ? 2 * one_way : needed);
  TimePoint const until = silent ? deadline : std::min(ready, deadline);
  if (until > runtime().now()) {
    auto slept = co_await runtime().sleep_until(until);
    if (!slept) co_return std::move(slept).error();
  }
  if (silent || ready > deadline) co_return Error{Errc::timeout, "the peer does not answer"};
  if (!alive_) co_return Error{Errc::closed, "this host died"};
  MemoryHost* const host = network_.places_[there].host;
  if (host == nullptr) co_return Error{Errc::closed, "the peer's host is dead"};
  if (!connections_.contains(there)) {
    host->joined(index_, true);
    joined(there, false);
  }
  co_return ok();
}

Co<Result<std::unique_ptr<net::Stream>>> MemoryHost::open(PeerId peer,
                                                          std::string_view protocol,
                                                          TimePoint deadline) {
  std::string const name(protocol);
  auto reached = co_await reach(peer, deadline, 1);
  if (!reached) co_return std::move(reached).error();
  MemoryHost* const host = network_.find(peer);
  if (host == nullptr) co_return Error{Errc::closed, "the peer's host is dead"};
  auto const handler = host->services_->handlers.find(name);
  if (handler == host->services_->handlers.end())
    co_return Error{Errc::refused, cat("the peer does not serve ", name)};
  if (network_.on_open) network_.on_open(self_, peer, name);
  auto [ours, theirs] = memory_pair(runtime(),
                                    network_.path(index_, host->index_),
                                    network_.path(host->index_, index_),
                                    streams_,
                                    host->streams_);
  if (network_.faults.sum() > 0) {
    ours = faulty(runtime(), std::move(ours), network_.faults);
    theirs = faulty(runtime(), std::move(theirs), network_.faults);
  }
  net::Incoming incoming{self_, name, std::move(theirs)};
  auto work = run_handler(handler->second, std::move(incoming));
  host->handlers_.spawn(name, std::move(work));
  co_return std::move(ours);
}

net::Registration MemoryHost::serve(std::string protocol, net::Handler handler) {
  auto const fresh =
      services_->handlers.try_emplace(protocol, std::make_shared<net::Handler>(std::move(handler)))
          .second;
  WAGGLE_ASSERT(fresh, "served twice: ", protocol);
  return net::Registration([weak = std::weak_ptr(services_), protocol] {
    if (auto const services = weak.lock()) services->handlers.erase(protocol);
  });
}

void MemoryHost::add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) {
  if (!addresses.empty()) known_.insert(peer);
}

Co<Status> MemoryHost::connect(PeerId peer, TimePoint deadline) {
  return reach(peer, deadline, 0);
}

bool MemoryHost::connected(PeerId const& peer) const {
  auto const found = network_.index_.find(peer);
  return found != network_.index_.end() && connections_.contains(found->second);
}

std::vector<net::PeerInfo> MemoryHost::peers() const {
  std::vector<net::PeerInfo> peers;
  for (auto const& [index, inbound] : connections_) {
    net::PeerInfo info;
    info.id = network_.places_[index].id;
    info.inbound = inbound;
    peers.push_back(std::move(info));
  }
  std::sort(peers.begin(), peers.end(), [](auto const& a, auto const& b) { return a.id < b.id; });
  return peers;
}

std::vector<wire::Multiaddr> MemoryHost::addresses() const {
  auto address = wire::Multiaddr::tcp(
      cat("10.", index_ >> 16 & 0xff, '.', index_ >> 8 & 0xff, '.', index_ & 0xff), 4001);
  return {std::move(*address)};
}

void MemoryHost::joined(std::uint32_t peer, bool inbound) {
  connections_.insert_or_assign(peer, inbound);
  auto const& place = network_.places_[peer];
  if (on_connected)
    on_connected(place.id, place.host ? place.host->protocols() : std::vector<std::string>{});
}

void MemoryHost::parted(std::uint32_t peer) {
  if (connections_.erase(peer) > 0 && on_disconnected) on_disconnected(network_.places_[peer].id);
}

void MemoryHost::disconnect(PeerId const& peer) {
  auto const found = network_.index_.find(peer);
  if (found == network_.index_.end()) return;
  parted(found->second);
  if (auto* const host = network_.places_[found->second].host) host->parted(index_);
}

void MemoryHost::kill(bool silent) noexcept {
  if (!alive_) return;
  alive_ = false;
  network_.leave(index_);
  handlers_.cancel();
  streams_->kill(silent);
  std::vector<std::uint32_t> others;
  for (auto const& [index, inbound] : connections_) others.push_back(index);
  std::sort(others.begin(), others.end());
  connections_.clear();
  for (auto const index : others)
    if (auto* const host = network_.places_[index].host) host->parted(index_);
}

Co<void> MemoryHost::close() {
  kill();
  co_await handlers_.close();
}

std::vector<std::string> MemoryHost::protocols() const {
  std::vector<std::string> names;
  for (auto const& [name, handler] : services_->handlers) names.push_back(name);
  return names;
}

std::uint64_t MemoryHost::bytes_sent() const noexcept {
  return network_.places_[index_].uplink->bytes;
}

}  // namespace waggle::sim
