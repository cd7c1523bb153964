// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/scope.hpp"
#include "core/net/host.hpp"
#include "core/node/commands.hpp"
#include "core/node/control/contacts.hpp"
#include "core/node/control/messages.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node::control {

/// Pairs with `machine`, which shows `code`; `own_name` is told to it. Where it is asked too often
/// at the moment, waits and asks again until the deadline. The machine's name and our right; its
/// addresses are not set. Errors: invalid (code), refused (with the machine's words), timeout,
/// closed, not_found, malformed, cancelled.
[[nodiscard]] Co<Result<Contact>> pair_with(
    net::Host& host, PeerId machine, std::string code, std::string own_name, TimePoint deadline);

/// How it stands with a machine that is watched.
enum class LinkState : std::uint8_t {
  connecting,  ///< nothing heard yet
  watching,
  lost,     ///< was heard, and is not any more; tried again and again
  refused,  ///< it does not know us any more, or speaks another version
};

/// Watches one machine: keeps a stream to it, asks for one snapshot after the other, sends
/// commands. A stream that fails is tried again, after kFirstWait, then ever later up to
/// kLongestWait. Thread: the network thread.
class Link {
 public:
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kLongestWait = std::chrono::seconds(60);
  static constexpr Duration kSilence = std::chrono::seconds(15);  ///< then it counts as lost
  static constexpr std::size_t kMaxOrders = 16;                   ///< under way

  /// `changed` is told of each new snapshot and state.
  Link(net::Host& host, Contact contact, std::function<void()> changed);
  ~Link();
  void start();
  [[nodiscard]] Co<void> close();

  /// Asks now, without waiting any longer.
  void hurry();
  /// Errors: refused (by the machine, with its words), closed (the stream ended meanwhile: it may
  /// or may not have been done), timeout, cancelled.
  [[nodiscard]] Co<Status> give(Command command, TimePoint deadline);

  [[nodiscard]] LinkState state() const noexcept { return state_; }

  /// When this state began, Unix seconds; of lost: when it was last heard.
  [[nodiscard]] double since() const noexcept { return since_; }

  /// Why it is lost or refused, in words.
  [[nodiscard]] std::string const& why() const noexcept { return why_; }

  /// The machine's name for itself and our right may have changed.
  [[nodiscard]] Contact const& contact() const noexcept { return contact_; }

  /// The newest; null before the first. Kept while it is lost.
  [[nodiscard]] std::shared_ptr<Snapshot const> const& snapshot() const noexcept {
    return snapshot_;
  }

 private:
  struct Talk;

  struct Given {
    std::optional<Status> answer;
  };

  [[nodiscard]] Co<void> run();
  [[nodiscard]] Co<Status> talk();
  [[nodiscard]] Co<Status> listen(std::shared_ptr<Talk> talk);
  [[nodiscard]] Co<void> write(std::shared_ptr<Talk> talk);
  [[nodiscard]] Co<void> pulse(std::shared_ptr<Talk> talk);
  [[nodiscard]] Status take(Talk& talk, Reply reply);
  void become(LinkState state, std::string why);

  net::Host& host_;
  Contact contact_;
  std::function<void()> changed_;
  LinkState state_ = LinkState::connecting;
  double since_;
  std::string why_;
  bool heard_ = false;  ///< on the stream that ended last
  std::shared_ptr<Snapshot const> snapshot_;
  std::shared_ptr<Talk> talk_;  ///< null while there is no stream
  std::map<std::uint64_t, Given> given_;
  std::uint64_t next_id_ = 1;
  Signal stirred_;  ///< answers, a stream begun or ended, hurry()
  bool hurry_ = false;
  Scope scope_;
};

}  // namespace waggle::node::control
