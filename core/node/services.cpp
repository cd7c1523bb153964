// SPDX-License-Identifier: MIT
#include "core/node/services.hpp"

#include <algorithm>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/address_book.hpp"
#include "core/net/kad/service.hpp"
#include "core/node/clone.hpp"
#include "core/node/tasks/blob_index.hpp"

namespace waggle::node {
namespace {

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLongestRetry =
    std::chrono::minutes(2);  // longer: a seed that comes back is noticed late
constexpr Duration kBootstrapTime = std::chrono::seconds(15);
constexpr Duration kPeerBookPeriod = std::chrono::seconds(60);
constexpr std::size_t kPeerBookAsked = 16;
constexpr std::size_t kMaxNotices = 64;  // the oldest go: a full disk may say the same for days
// For the look at start whether a copy of us runs. Longer: a machine that changed its network,
// whose old addresses swallow every packet, starts later.
constexpr Duration kCloneSearch = std::chrono::seconds(3);

// Shorter: who names new peers all the time in the local network makes us dial all the time.
constexpr Duration kLanEvery = std::chrono::seconds(10);

// Where we listened last, one address a line.
constexpr std::string_view kAddressesSetting = "addresses";

std::vector<wire::Multiaddr> parse_lines(std::string_view text) {
  std::vector<wire::Multiaddr> addresses;
  while (!text.empty()) {
    auto const end = text.find('\n');
    if (auto address = wire::Multiaddr::parse(text.substr(0, end)))
      addresses.push_back(*std::move(address));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return addresses;
}

Co<void> call_at(Runtime& runtime, TimePoint at, std::function<void()> f) {
  auto const slept = co_await runtime.sleep_until(at);
  if (slept) f();
}

}  // namespace

struct Services::Network {
  explicit Network(Runtime& runtime) : book(runtime) {}

  net::AddressBook book;
  std::unique_ptr<net::kad::Service> kad;
};

Services::Services(Runtime& runtime, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      peers_changed_(runtime),
      joined_signal_(runtime),
      scope_(runtime) {
}

Services::~Services() = default;

Result<std::unique_ptr<Services>> Services::open(Runtime& runtime, Options options) {
  auto services = std::unique_ptr<Services>(new Services(runtime, std::move(options)));
  auto& s = *services;
  s.notices_ = s.options_.notices;
  auto const& folder = s.options_.data_dir;
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec)
    return Error{Errc::io,
                 cat("cannot make the data directory ", folder.string(), ": ", ec.message())};
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ec);
  WAGGLE_TRY(s.lock_, store::DirectoryLock::take(folder));
  WAGGLE_TRY(s.store_, store::Store::open(folder / "waggle.sqlite3"));
  if (!s.store_->notice().empty()) s.notice(s.store_->notice());
  s.identity_is_new_ = !std::filesystem::exists(folder / "identity.key", ec);
  WAGGLE_TRY(s.identity_, crypto::Identity::load_or_create(folder / "identity.key"));
  WAGGLE_TRY(s.record_key_, crypto::RecordKey::load_or_create(folder / "record.key"));
  s.compute_ = std::make_unique<ThreadPool>("compute", 1);
  s.disk_ = std::make_unique<ThreadPool>("store", 1);
  WAGGLE_TRY(s.index_, BlobIndex::load(*s.store_, *s.disk_));
  s.peers_ = s.options_.peers;
  return services;
}

Co<Status> Services::begin() {
  if (!identity_is_new_) {
    WAGGLE_CO_TRY_STATUS(co_await yield_copied_identity());
  }
  co_return open_network();
}

// Two peers with one PeerID, or one record key, would take each other's records and connections.
// Who started later makes way. Nothing of ours listens yet, so whoever answers is somebody else;
// our own last process, dead or alive, cannot be: its lock was ours to take.
Co<Status> Services::yield_copied_identity() {
  std::vector<wire::Multiaddr> own;
  if (auto const last = store_->setting(kAddressesSetting); last && *last)
    own = parse_lines(**last);
  auto seeds = co_await known_peers();
  auto const copied = identity_->peer_id();
  auto const found =
      co_await find_clone(runtime_, copied, std::move(own), std::move(seeds), kCloneSearch);
  if (!found) co_return ok();
  auto const& folder = options_.data_dir;
  auto fresh_records = crypto::RecordKey::generate();
  auto fresh = crypto::Identity::generate();
  // The identity last: killed in between, the next start finds the copy again.
  WAGGLE_CO_TRY_STATUS(write_file(folder / "record.key", fresh_records.to_der(), FileMode::secret));
  WAGGLE_CO_TRY_STATUS(write_file(folder / "identity.key", fresh.to_protobuf(), FileMode::secret));
  identity_ = std::move(fresh);
  record_key_ = std::move(fresh_records);
  notice(cat("this data directory is a copy of one that is in use: ",
             crypto::to_text(copied),
             " answers at ",
             found->text(),
             "; a new identity and a new record key were made here, and this peer is now ",
             crypto::to_text(identity_->peer_id())));
  co_return ok();
}

Status Services::open_network() {
  network_ = std::make_unique<Network>(runtime_);
  net::SwarmOptions swarm;
  swarm.listen_host = options_.client_mode ? "" : options_.listen_host;
  swarm.listen_port = options_.port;
  swarm.agent = cat("waggle/", options_.version);
  if (options_.port == 0)
    if (auto const last = store_->setting("port"); last && *last) {
      unsigned port = 0;
      auto const& text = **last;
      std::from_chars(text.data(), text.data() + text.size(), port);
      swarm.listen_port = static_cast<std::uint16_t>(std::min(port, 65535U));
    }
  swarm_ = std::make_unique<net::Swarm>(runtime_, *identity_, network_->book, swarm);
  WAGGLE_TRY_STATUS(swarm_->listen());
  auto const port = swarm_->listen_port();
  if (swarm.listen_port != 0 && port != swarm.listen_port && port != 0)
    notice(cat("port ", swarm.listen_port, " was busy, listening on ", port));
  if (port != 0) {
    std::string lines;
    for (auto const& address : link_addresses()) lines += cat(address.text(), '\n');
    for (auto const& noted :
         {store_->put_setting("port", cat(port)), store_->put_setting(kAddressesSetting, lines)})
      if (!noted) log::warning("store", noted.error().detail);
  }

  net::kad::ServiceOptions kad;
  kad.server_mode = !options_.client_mode;
  network_->kad = std::make_unique<net::kad::Service>(*swarm_, network_->book, kad);
  swarm_->set_peer_routing(network_->kad.get());
  swarm_->on_identified([kad_service = network_->kad.get()](
                            auto const& peer, auto const& protocols, auto const& addresses) {
    kad_service->identified(peer, protocols, addresses);
  });
  swarm_->on_connection([kad_service = network_->kad.get()](PeerId const& peer, bool connected) {
    if (!connected) kad_service->disconnected(peer);
  });

  dht::Options dht;
  dht.client_mode = options_.client_mode;
  dht_ = std::make_unique<dht::Dht>(*swarm_, dht);
  blob::BlobOptions blobs;
  blobs.folder = options_.data_dir / "blobs";
  blobs.disk_limit = options_.disk_limit.value_or(blobs.disk_limit);
  blobs_ = std::make_unique<blob::BlobService>(*swarm_, *dht_, *disk_, *index_, blobs);
  directory_ = std::make_unique<task::Directory>(*dht_);
  open_lan();
  scope_.spawn("join", join());
  scope_.spawn("peer book", keep_peer_book());
  return ok();
}

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

void Services::limit_disk(std::optional<std::uint64_t> gib) {
  if (blobs_) blobs_->set_disk_limit(gib ? *gib << 30 : blob::BlobOptions{}.disk_limit);
}

void Services::limit_rates(std::uint64_t download, std::uint64_t upload) {
  if (swarm_) swarm_->limit_rates(download, upload);
}

std::uint64_t Services::socket_bytes() const {
  return swarm_ ? swarm_->socket_bytes_in() + swarm_->socket_bytes_out() : 0;
}

void Services::notice(std::string text) {
  log::info("node", text);
  if (notice_observer_) notice_observer_(text);
  notices_.push_back(std::move(text));
  if (notices_.size() > kMaxNotices) notices_.erase(notices_.begin());
}

void Services::on_notice(std::function<void(std::string const&)> observer) {
  notice_observer_ = std::move(observer);
}

void Services::serve_blobs(std::set<blob::BlobId> ids) {
  served_.merge(ids);
  blobs_->serve_only(served_);
}

std::uint64_t Services::drop_blobs(std::vector<blob::BlobId> const& ids) {
  for (auto const& id : ids) served_.erase(id);
  blobs_->serve_only(served_);
  std::uint64_t freed = 0;
  for (auto const& id : ids) freed += blobs_->remove(id);
  return freed;
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

Co<void> Services::close() {
  if (lan_) co_await lan_->close();
  co_await scope_.close();
  if (directory_) co_await directory_->close();
  if (blobs_) co_await blobs_->close();
  if (dht_) co_await dht_->close();
  if (network_ && network_->kad) {
    swarm_->set_peer_routing(nullptr);
    co_await network_->kad->close();
  }
  if (swarm_) co_await swarm_->close();
}

}  // namespace waggle::node
