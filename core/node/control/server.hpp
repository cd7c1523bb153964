// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "core/base/compute.hpp"
#include "core/base/scope.hpp"
#include "core/net/host.hpp"
#include "core/node/commands.hpp"
#include "core/node/control/contacts.hpp"
#include "core/node/control/messages.hpp"
#include "core/node/control/pairing.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node::control {

/// Lets paired machines watch this one, and steer it where they may; pairs with new ones while a
/// code is shown. Serves `/waggle/control/1` only while somebody is paired or a code is shown, so
/// that nobody else learns that it could be watched.
///
/// What a stranger can make it hold: nothing while no code is shown (one frame says no); then
/// kMaxStrangers streams that have said nothing or one thing, of which the oldest gives way, and
/// PairingWindow's tables. What a paired one can: kStreamsEach streams with one snapshot and
/// Outbox::kMost answers each.
///
/// Thread: the network thread.
class Server : public std::enable_shared_from_this<Server> {
 public:
  static constexpr std::size_t kMaxStreams = 64;
  static constexpr std::size_t kStreamsEach = 4;
  static constexpr std::size_t kMaxStrangers = 256;
  static constexpr Duration kViewPeriod = std::chrono::seconds(1);
  static constexpr Duration kIdle = std::chrono::seconds(60);   ///< without a word of the watcher's
  static constexpr Duration kWindow = std::chrono::minutes(5);  ///< that a code holds
  static constexpr Duration kRefusalTime = std::chrono::seconds(5);  ///< to write the last words

  struct Hooks {
    std::function<std::shared_ptr<Snapshot const>()> snapshot;
    std::function<Co<Status>(Command)> command;  ///< of a watcher that may give it
    std::function<void(Contacts const&)> keep;   ///< who may watch has changed
    std::function<void(std::string)> notice;     ///< what a person should know
  };

  /// `name` is what this machine calls itself. `compute` packs snapshots. All outlive it.
  Server(net::Host& host, Executor& compute, std::string name, Contacts paired, Hooks hooks);
  ~Server();
  void start();
  [[nodiscard]] Co<void> close();

  /// Shows a code: who gives it within kWindow is paired, once. Replaces one that is shown.
  /// Errors: invalid (the code).
  [[nodiscard]] Status open_pairing(std::string_view code, Right right);
  void close_pairing();
  /// Its streams end with a refusal. Errors: not_found.
  [[nodiscard]] Status remove(PeerId const& peer);

  [[nodiscard]] ControlView view() const;

  [[nodiscard]] Contacts const& paired() const noexcept { return paired_; }

 private:
  struct Watching;

  struct Stranger {
    PeerId peer;
    net::Stream* stream;
  };

  static Co<void> accept(std::weak_ptr<Server> weak, net::Incoming incoming);
  [[nodiscard]] Co<void> serve(std::shared_ptr<net::Incoming> incoming);
  [[nodiscard]] Co<void> serve_stranger(std::shared_ptr<net::Incoming> incoming);
  [[nodiscard]] Co<void> converse(net::Incoming& incoming);
  [[nodiscard]] Co<void> refuse(net::Stream& stream, Why why, std::string_view words);
  [[nodiscard]] Co<void> hear_out(net::Stream& stream);
  [[nodiscard]] Co<void> pair(net::Incoming& incoming, PairStart start);
  [[nodiscard]] Co<void> watch(net::Incoming& incoming, Hello hello);
  [[nodiscard]] Co<void> listen(std::shared_ptr<Watching> watching);
  [[nodiscard]] Co<void> show(std::shared_ptr<Watching> watching);
  [[nodiscard]] Co<void> write(std::shared_ptr<Watching> watching);
  [[nodiscard]] Co<Answer> obey(PeerId peer, Order order);
  [[nodiscard]] Co<Result<View>> packed(std::shared_ptr<Snapshot const> snapshot);
  [[nodiscard]] Co<void> expire(TimePoint until);
  [[nodiscard]] bool pairing_open() const;
  [[nodiscard]] wire::Multiaddr address_of(PeerId const& peer) const;
  void serve_if_wanted();

  net::Host& host_;
  Executor& compute_;
  std::string name_;
  Contacts paired_;
  Hooks hooks_;
  std::optional<PairingWindow> window_;
  std::uint64_t wrong_tries_ = 0;
  std::map<PeerId, double> last_seen_;  // of paired ones
  std::list<std::shared_ptr<Watching>> watching_;
  std::list<Stranger> strangers_;
  std::map<PeerId, std::size_t> streams_;
  std::size_t all_streams_ = 0;
  std::shared_ptr<Snapshot const> packed_of_;
  std::optional<View> packed_;
  bool started_ = false;
  bool serving_ = false;
  net::Registration registration_;
  Scope scope_;
};

}  // namespace waggle::node::control
