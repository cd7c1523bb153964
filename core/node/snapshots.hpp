// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "core/base/runtime.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// The newest Snapshot, made when somebody asks for one: a node that nobody looks at makes none,
/// and sleeps. Thread: any, where nothing else is said.
class Snapshots {
 public:
  /// One that is older is made anew for whoever asks.
  static constexpr Duration kFresh = std::chrono::milliseconds(500);
  /// So long a busy network thread is waited for.
  static constexpr Duration kPatience = std::chrono::seconds(1);

  explicit Snapshots(Runtime const& clock) : clock_(clock) {}

  /// `ask` has one made and set(), soon; null: nobody makes any, what there is stays. It is called
  /// on whichever thread asks, and comes back at once.
  void made_by(std::function<void()> ask);
  void set(std::shared_ptr<Snapshot const> snapshot);

  /// No older than kFresh, unless the network thread takes longer than kPatience: then the last.
  /// Null before the first set(). Thread: any but the network thread, which it waits for.
  [[nodiscard]] std::shared_ptr<Snapshot const> fresh();
  /// At once: one no older than kFresh, or null, and then there is one soon.
  [[nodiscard]] std::shared_ptr<Snapshot const> if_fresh();
  /// At once, however old it is.
  [[nodiscard]] std::shared_ptr<Snapshot const> last() const;
  /// Something else holds: whoever asks from now on sees it. Thread: the network thread.
  void outdate();

 private:
  [[nodiscard]] bool old() const;

  Runtime const& clock_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::function<void()> ask_;  // guarded by mutex_, as all below
  std::shared_ptr<Snapshot const> value_;
  TimePoint made_ = TimePoint::min();
  std::uint64_t number_ = 0;  // counts what was made
};

}  // namespace waggle::node
