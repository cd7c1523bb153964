// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "core/base/scope.hpp"
#include "core/node/release/notice.hpp"
#include "core/node/services.hpp"

namespace waggle::node {

/// Asks the DHT now and then whether there is a newer Waggle, says it as a notice, and keeps the
/// signed record alive for the others. Only while the setting update_notice is true, which a person
/// may change at any time; otherwise nothing is asked and nothing is said. It downloads nothing.
/// Thread: the network thread.
class ReleaseWatch {
 public:
  /// `key`: whose word counts. Guards genuine records of any key against others from here on.
  ReleaseWatch(Services& services, std::optional<PeerId> key);
  [[nodiscard]] Co<void> close();

 private:
  [[nodiscard]] Co<void> watch(PeerId key);
  [[nodiscard]] Co<bool> agreed();
  [[nodiscard]] Co<Status> ask(PeerId key);
  /// What is newer than all before: kept, in memory and on disk, and said if it is newer than us.
  void take(PeerId const& key, Bytes envelope);

  Services& services_;
  net::Registration rule_;
  std::optional<ReleaseVersion> highest_;  ///< ever seen here: a replay of an older one is ignored
  Bytes envelope_;                         ///< of `highest_`
  Scope scope_;
};

/// Stores a notice in the DHT for kReleaseRecordTime from now.
/// Errors: not_found (nobody took it), timeout, cancelled, refused.
[[nodiscard]] Co<Status> store_notice(dht::Dht& dht,
                                      PeerId key,
                                      Bytes envelope,
                                      TimePoint deadline);
constexpr Duration kReleaseRecordTime = std::chrono::hours(12);

}  // namespace waggle::node
