// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::blob {

/// Which chunk to ask whom for next. Rarest first among what the asked peer holds, from a random
/// place, so that fetchers of one seeder soon hold different chunks and feed each other. Endgame:
/// when all that is missing is asked for, a chunk that was asked for kEndgameAge ago may be asked
/// of one more peer, so the slowest does not set the end. Pure. Cost of next(): O(min(missing,
/// kScan)). Source: Cohen, "Incentives Build Robustness in BitTorrent", section 2.4.
class FetchPlan {
 public:
  /// Shorter fetches more twice; longer lets a stalled peer hold up the end.
  static constexpr Duration kEndgameAge = std::chrono::seconds(3);
  static constexpr std::size_t kMaxAskers = 2;
  /// Candidates looked at once a fitting one is found.
  static constexpr std::size_t kScan = 4096;

  FetchPlan(std::vector<bool> held, std::uint64_t seed);

  /// What `peer` says it holds (as many bits as there are chunks); replaces what it said before.
  void set_holding(PeerId const& peer, std::vector<bool> holding);
  /// The peer's word is withdrawn; what it was asked for can be asked of others.
  void drop(PeerId const& peer);

  /// Marks the returned chunk as asked of `peer`.
  [[nodiscard]] std::optional<std::size_t> next(PeerId const& peer, TimePoint now);
  /// Verified and on disk.
  void arrived(std::size_t chunk);
  /// `peer` will not deliver it; `denied`: it said that it does not hold it.
  void failed(PeerId const& peer, std::size_t chunk, bool denied);
  /// A held chunk turned out to be torn.
  void lost(std::size_t chunk);

  [[nodiscard]] bool wants(std::size_t chunk) const noexcept {
    return chunk < held_.size() && !held_[chunk];
  }

  [[nodiscard]] bool complete() const noexcept { return missing_.empty(); }

  [[nodiscard]] std::vector<std::uint32_t> const& missing() const noexcept { return missing_; }

 private:
  struct Asked {
    PeerId peer;
    TimePoint since;
  };

  [[nodiscard]] std::optional<std::size_t> rarest(std::vector<bool> const& holding);
  [[nodiscard]] std::optional<std::size_t> overdue(PeerId const& peer,
                                                   std::vector<bool> const& holding,
                                                   TimePoint now) const;
  [[nodiscard]] std::uint64_t draw() noexcept;

  std::vector<bool> held_;
  std::vector<std::uint32_t> missing_;  // any order
  std::vector<std::uint16_t> copies_;   // how many peers say they hold it
  std::map<PeerId, std::vector<bool>> holdings_;
  std::map<std::size_t, std::vector<Asked>> asked_;
  std::uint64_t random_;
};

}  // namespace waggle::blob
