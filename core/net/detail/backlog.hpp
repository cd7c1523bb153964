// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace waggle::net {

/// What all connections of a Swarm hold for their peers: bytes that wait to be read, and messages
/// whose end has not come. Above the limit the stream that has made no progress for the longest
/// time is reset: slow floods give way to everybody else, whoever and however many send them.
/// Thread: the network thread.
class Backlog {
 public:
  explicit Backlog(std::size_t limit) : limit_(limit) {}

  Backlog(Backlog const&) = delete;
  Backlog& operator=(Backlog const&) = delete;

  /// One stream's share.
  class Entry {
   public:
    /// `evict` resets the stream; it may destroy this entry.
    Entry(std::shared_ptr<Backlog> backlog, std::function<void()> evict)
        : backlog_(std::move(backlog)), evict_(std::move(evict)) {}

    ~Entry() { clear(); }

    Entry(Entry const&) = delete;
    Entry& operator=(Entry const&) = delete;

    /// So many bytes more. May evict others, or this one: nothing of the stream may be touched
    /// after it without looking.
    void grow(std::size_t bytes);
    /// So many bytes less: progress, which makes it the last to go.
    void shrink(std::size_t bytes) noexcept;

   private:
    friend class Backlog;
    void clear() noexcept;

    std::shared_ptr<Backlog> backlog_;
    std::function<void()> evict_;
    std::size_t bytes_ = 0;
    std::list<Entry*>::iterator place_;  // valid while bytes_ > 0
  };

  [[nodiscard]] std::size_t total() const noexcept { return total_; }

 private:
  std::size_t limit_;
  std::size_t total_ = 0;
  std::list<Entry*> by_progress_;  // the longest without first
};

}  // namespace waggle::net
