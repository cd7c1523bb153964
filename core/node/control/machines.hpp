// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/node/commands.hpp"
#include "core/node/control/client.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node::control {

/// One paired machine, now.
struct MachineState {
  std::string peer_id;  ///< base58
  std::string name;     ///< as this machine's person calls it
  Right right = Right::watch;
  LinkState state = LinkState::connecting;
  double since = 0;  ///< Unix seconds of the state
  std::string why;   ///< why lost or refused
  std::shared_ptr<Snapshot const> snapshot;
};

/// The machines that a data directory is paired with, watched: `machines.toml` and `watch.key`,
/// the key that they know this person by. It is not the node's own: a window watches whether or not
/// a node runs here, and two processes with one PeerID would take each other's connections. Owns a
/// thread with a swarm that only dials.
///
/// Thread: any; answers come on the thread of its own.
class Machines {
 public:
  struct Options {
    std::filesystem::path data_dir;
    std::string version;    ///< the program's, for identify
    std::string own_name;   ///< told to machines when pairing; empty: the host's name
    bool watch_all = true;  ///< else only those that watch() names
  };

  /// Errors: malformed (machines.toml, watch.key), io.
  [[nodiscard]] static Result<std::unique_ptr<Machines>> open(Options options);
  ~Machines();
  Machines(Machines const&) = delete;
  Machines& operator=(Machines const&) = delete;

  /// All, in the order in which they were paired; the state of those not watched is connecting.
  [[nodiscard]] std::vector<MachineState> list() const;
  /// Errors: not_found, invalid (several of that name).
  [[nodiscard]] Result<Contact> find(std::string_view name_or_peer) const;
  /// Called after each change, on its thread. Replaces one that was set.
  void on_change(std::function<void()> changed);

  void watch(PeerId const& peer);
  void give(PeerId const& peer,
            Command command,
            Duration patience,
            std::function<void(Status)> done);
  /// `address` is a multiaddr, with /p2p/ or without, or HOST:PORT. Keeps what it found in
  /// machines.toml, by `name` or the machine's own, and watches it.
  void pair(std::string address,
            std::string code,
            std::string name,
            Duration patience,
            std::function<void(Result<Contact>)> done);
  /// Errors: not_found, io.
  void forget(PeerId const& peer, std::function<void(Status)> done);

 private:
  struct State;
  explicit Machines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::node::control
