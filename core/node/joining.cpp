// SPDX-License-Identifier: MIT
// How a node meets others: by links, the local network and the peer book.
#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/services.hpp"

namespace waggle::node {
namespace {

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLongestRetry =
    std::chrono::minutes(2);  // longer: a seed that comes back is noticed late
constexpr Duration kBootstrapTime = std::chrono::seconds(15);
constexpr Duration kPeerBookPeriod = std::chrono::seconds(60);
constexpr std::size_t kPeerBookAsked = 16;

// Shorter: who names new peers all the time in the local network makes us dial all the time.
constexpr Duration kLanEvery = std::chrono::seconds(10);

Co<void> call_at(Runtime& runtime, TimePoint at, std::function<void()> f) {
  auto const slept = co_await runtime.sleep_until(at);
  if (slept) f();
}

}  // namespace

// A network without multicast, or a program that keeps the port to itself, keeps nobody from
// joining by a link.
void Services::open_lan() {
  if (!options_.lan) return;
  bool const loopback = is_loopback(options_.listen_host);

  struct Joins {
    bool due = false;
    TimePoint next{};
  };

  auto const joins = std::make_shared<Joins>();
  lan_ = std::make_unique<net::mdns::Service>(
      *swarm_, loopback, [this, joins](net::mdns::FoundPeer const& peer) {
        if (!lan_peers_.saw(peer, runtime_.now())) return;
        log::info("node",
                  "on the local network: ",
                  crypto::to_text(peer.id),
                  " at ",
                  peer.addresses.front().text());
        if (std::exchange(joins->due, true)) return;
        TimePoint const at = std::max(runtime_.now(), joins->next);
        std::function<void()> join_them = [this, joins] {
          joins->due = false;
          joins->next = runtime_.now() + kLanEvery;
          ++peers_version_;
          peers_changed_.notify_all();
        };
        scope_.spawn("join by the local network", call_at(runtime_, at, std::move(join_them)));
      });
  if (auto const opened = lan_->open(); !opened)
    log::info("node", "peers of the local network are not looked for: ", opened.error().detail);
}

void Services::add_peers(std::vector<wire::Multiaddr> const& peers) {
  for (auto const& peer : peers)
    if (peer.peer_id() && std::find(peers_.begin(), peers_.end(), peer) == peers_.end())
      peers_.push_back(peer);
  ++peers_version_;
  peers_changed_.notify_all();
}

std::vector<wire::Multiaddr> Services::link_addresses() const {
  std::vector<wire::Multiaddr> addresses;
  for (auto const& address : swarm_->addresses())
    addresses.push_back(address.with_peer_id(swarm_->self()));
  bool const elsewhere = std::any_of(
      addresses.begin(), addresses.end(), [](auto const& a) { return !a.is_loopback(); });
  if (elsewhere) std::erase_if(addresses, [](auto const& a) { return a.is_loopback(); });
  return addresses;
}

// The peers we were told of, then those of the local network and of the peer book, each with /p2p/.
Co<std::vector<wire::Multiaddr>> Services::known_peers() {
  auto all = peers_;
  for (auto& address : lan_peers_.addresses(runtime_.now())) all.push_back(std::move(address));
  auto read_book = [this] { return store_->peers(kPeerBookAsked); };
  auto const book = co_await on(*disk_, runtime_, std::move(read_book));
  if (book)
    for (auto const& peer : *book) {
      auto const id = PeerId::from_bytes(peer.peer_id);
      auto const address = wire::Multiaddr::from_bytes(peer.address);
      if (id && address) all.push_back(address->with_peer_id(*id));
    }
  co_return all;
}

Co<void> Services::join() {
  // A peer that was asked once is in the address book; bootstrap names those that do not answer.
  Duration wait = kFirstRetry;
  while (!scope_.cancelled()) {
    auto const version = peers_version_;
    std::vector<PeerId> ids;
    auto const known = co_await known_peers();
    for (auto const& address : known)
      if (auto const id = address.peer_id(); id && *id != swarm_->self()) {
        swarm_->add_addresses(*id, std::span(&address, 1));
        ids.push_back(*id);
      }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    if (ids.empty()) {
      join_tried_ = true;
      joined_signal_.notify_all();
      while (peers_version_ == version) {
        auto const woken = co_await peers_changed_.wait();
        if (!woken) co_return;
      }
      continue;
    }
    auto const done = co_await dht_->bootstrap(std::move(ids), runtime_.now() + kBootstrapTime);
    if (done) {
      joined_ = true;
      joined_signal_.notify_all();
      // From here the table keeps itself; only a table that emptied, or new peers in a link, ask
      // for more.
      wait = kFirstRetry;
      while (peers_version_ == version && dht_->table_size() > 0) {
        auto const woken = co_await peers_changed_.wait(runtime_.now() + kLongestRetry);
        if (!woken && woken.error().code == Errc::cancelled) co_return;
      }
      continue;
    }
    if (done.error().code == Errc::cancelled) co_return;
    log::warning("node",
                 "no peer answers yet: ",
                 done.error().detail,
                 "; trying again in ",
                 to_seconds(wait),
                 " s");
    if (peers_version_ == version) {
      auto const woken = co_await peers_changed_.wait(runtime_.now() + wait);
      if (!woken && woken.error().code == Errc::cancelled) co_return;
    }
    wait = std::min(wait * 2, kLongestRetry);
  }
}

Co<Status> Services::joined(TimePoint deadline) {
  while (!joined_ && !(join_tried_ && peers_.empty())) {
    auto waited = co_await joined_signal_.wait(deadline);
    if (!waited) co_return std::move(waited).error();
  }
  co_return ok();
}

Co<void> Services::keep_peer_book() {
  for (;;) {
    auto const slept = co_await runtime_.sleep_for(kPeerBookPeriod);
    if (!slept) co_return;
    std::vector<store::KnownPeer> known;
    for (auto const& peer : swarm_->peers())
      if (!peer.inbound)
        known.push_back(
            {to_bytes(peer.id.bytes()), to_bytes(peer.address.bytes()), runtime_.unix_time(), 0});
    disk_->post([this, known = std::move(known)] {
      for (auto const& peer : known)
        if (auto const written = store_->put_peer(peer); !written)
          log::warning("store", written.error().detail);
    });
  }
}

}  // namespace waggle::node
