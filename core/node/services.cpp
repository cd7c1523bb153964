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

constexpr std::size_t kMaxNotices = 64;  // the oldest go: a full disk may say the same for days
// For the look at start whether a copy of us runs. Longer: a machine that changed its network,
// whose old addresses swallow every packet, starts later.
constexpr Duration kCloneSearch = std::chrono::seconds(3);

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

void Services::not_kept(std::string const& what) {
  not_kept_ = true;
  log::warning("store", what);
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
