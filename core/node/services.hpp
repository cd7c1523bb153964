// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/compute.hpp"
#include "core/base/scope.hpp"
#include "core/blob/blob.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/record_key.hpp"
#include "core/device/energy.hpp"
#include "core/dht/dht.hpp"
#include "core/net/mdns/service.hpp"
#include "core/net/swarm.hpp"
#include "core/node/lan_peers.hpp"
#include "core/node/options.hpp"
#include "core/store/store.hpp"
#include "core/task/directory.hpp"

namespace waggle::node {

/// What a running node is made of, below any task: keys, store, network, DHT, blobs. Built in this
/// order, closed in the reverse one. Thread: the network thread, but for open().
class Services {
 public:
  /// Takes the data directory's lock, opens the store, loads or makes the keys. No network yet.
  /// Errors: refused (the directory is in use, with the pid), io, malformed (a key file).
  [[nodiscard]] static Result<std::unique_ptr<Services>> open(Runtime& runtime, Options options);
  ~Services();

  /// Looks whether somebody else runs with a copy of our keys, and then takes new ones; listens and
  /// serves; then, in the background, joins by the given peers, those of the peer book and, if
  /// options().lan, those of the local network, with growing waits, for as long as none answers,
  /// and keeps the peer book. Errors: io (no port, new keys that cannot be written), cancelled.
  [[nodiscard]] Co<Status> begin();
  /// Waits until at least one peer answered, or until nobody was to be asked. Errors: timeout,
  /// cancelled.
  [[nodiscard]] Co<Status> joined(TimePoint deadline);
  [[nodiscard]] Co<void> close();

  /// Addresses for a link: announced ones first, loopback only if there is nothing else; each with
  /// /p2p/.
  [[nodiscard]] std::vector<wire::Multiaddr> link_addresses() const;
  /// Adds addresses to ask, from a link, and begins to join by them.
  void add_peers(std::vector<wire::Multiaddr> const& peers);
  /// Serves these blobs beside those that are served already.
  void serve_blobs(std::set<blob::BlobId> ids);
  /// Neither serves nor keeps these any longer. Returns the bytes freed.
  std::uint64_t drop_blobs(std::vector<blob::BlobId> const& ids);
  /// What all blobs may take from now on; unset: the standard.
  void limit_disk(std::optional<std::uint64_t> gib);
  /// Bytes a second that all connections together may take from now on; 0: no limit.
  void limit_rates(std::uint64_t download, std::uint64_t upload);
  /// All bytes over the network since the start, both ways.
  [[nodiscard]] std::uint64_t socket_bytes() const;
  /// Says something that a person should know: shown by status and doctor, and told to on_notice().
  void notice(std::string text);
  /// Told every notice from here on.
  void on_notice(std::function<void(std::string const&)> observer);

  /// What a busy core takes now, in watts, as the one who looks at the machine last said.
  [[nodiscard]] double watts_per_core() const noexcept { return watts_per_core_; }

  void set_watts_per_core(double watts) noexcept { watts_per_core_ = watts; }

  [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }

  [[nodiscard]] Options const& options() const noexcept { return options_; }

  [[nodiscard]] crypto::Identity const& identity() const noexcept { return *identity_; }

  [[nodiscard]] crypto::RecordKey const& record_key() const noexcept { return *record_key_; }

  [[nodiscard]] net::Swarm& swarm() noexcept { return *swarm_; }

  [[nodiscard]] dht::Dht& dht() noexcept { return *dht_; }

  [[nodiscard]] blob::BlobService& blobs() noexcept { return *blobs_; }

  [[nodiscard]] task::Directory& directory() noexcept { return *directory_; }

  [[nodiscard]] store::Store& store() noexcept { return *store_; }

  [[nodiscard]] Executor& compute() noexcept { return *compute_; }

  /// SQLite and files: one thread, in order.
  [[nodiscard]] Executor& disk() noexcept { return *disk_; }

  /// Something that a person asked for could not be written: it is in the log, and whoever waits
  /// for it is not told that it is kept. Thread: the store's, as below.
  void not_kept(std::string const& what);

  /// Whether there was any since the last call.
  [[nodiscard]] bool take_not_kept() noexcept { return std::exchange(not_kept_, false); }

  [[nodiscard]] std::vector<std::string> const& notices() const noexcept { return notices_; }

 private:
  struct Network;
  Services(Runtime& runtime, Options options);
  [[nodiscard]] Status open_network();
  [[nodiscard]] Co<Status> yield_copied_identity();
  [[nodiscard]] Co<std::vector<wire::Multiaddr>> known_peers();
  [[nodiscard]] Co<void> join();
  void open_lan();
  [[nodiscard]] Co<void> keep_peer_book();

  Runtime& runtime_;
  Options options_;
  std::optional<store::DirectoryLock> lock_;
  std::optional<store::Store> store_;
  std::optional<crypto::Identity> identity_;
  std::optional<crypto::RecordKey> record_key_;
  std::unique_ptr<ThreadPool> compute_;
  bool not_kept_ = false;  // the store's thread's, so it outlives that
  std::unique_ptr<ThreadPool> disk_;
  std::unique_ptr<blob::Index> index_;
  std::unique_ptr<Network> network_;  // the address book and peer routing, below the swarm
  std::unique_ptr<net::Swarm> swarm_;
  std::unique_ptr<dht::Dht> dht_;
  std::unique_ptr<blob::BlobService> blobs_;
  std::unique_ptr<task::Directory> directory_;
  std::unique_ptr<net::mdns::Service> lan_;  // null where it is not wanted or cannot be
  std::vector<wire::Multiaddr> peers_;
  LanPeers lan_peers_;
  std::vector<std::string> notices_;
  std::function<void(std::string const&)> notice_observer_;
  bool identity_is_new_ = false;  ///< made by this start: nobody can have a copy
  std::set<blob::BlobId> served_;
  std::uint64_t peers_version_ =
      0;  ///< counts changes of peers_ and lan_peers_, so that none is slept through
  Signal peers_changed_;
  Signal joined_signal_;
  double watts_per_core_ = device::kWattsPerBusyCore;
  bool joined_ = false;
  bool join_tried_ = false;
  Scope scope_;
};

}  // namespace waggle::node
