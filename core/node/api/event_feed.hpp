// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace waggle::node {

/// The newest events, numbered, and who listens to them. Thread: every function, any.
class EventFeed {
 public:
  static constexpr std::size_t kKept = 512;  ///< for who comes late; a slow listener loses older
  static constexpr std::size_t kListeners = 16;  ///< each holds a thread of the API

  /// One who listens; gone when destroyed. The feed must outlive it.
  class Listener {
   public:
    Listener(EventFeed& feed, std::uint64_t after) : feed_(feed), after_(after) {}

    ~Listener();
    Listener(Listener const&) = delete;
    Listener& operator=(Listener const&) = delete;

    /// Waits for events and adds them to `out` in the form of server-sent events ("id: 7",
    /// "data: {…}", an empty line). Nothing is added if none came. False: the feed is closed.
    [[nodiscard]] bool next(std::string& out, std::chrono::milliseconds patience);

   private:
    EventFeed& feed_;
    std::uint64_t after_;
  };

  void publish(std::string json);
  /// Wakes and ends every listener.
  void close();
  /// Begins after the event of that number; unset: with what comes from now on. Null when
  /// kListeners listen already.
  [[nodiscard]] std::shared_ptr<Listener> listen(std::optional<std::uint64_t> after);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> kept_;  // guarded by mutex_
  std::uint64_t last_ = 0;        // guarded by mutex_: number of kept_'s newest; no gaps
  std::size_t listeners_ = 0;     // guarded by mutex_
  bool closed_ = false;           // guarded by mutex_
};

}  // namespace waggle::node
