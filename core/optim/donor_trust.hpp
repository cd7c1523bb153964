// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"

namespace waggle::optim {

/// Which donors may be asked for a state. None is given up for good, since an honest one may look
/// like a liar from far behind: who failed rests a second, who gave a wrong state a minute, and
/// each time running twice as long, up to a minute and an hour. Pure.
class DonorTrust {
 public:
  static constexpr Duration kFirstRest = std::chrono::seconds(1);
  static constexpr Duration kLongestRest = std::chrono::minutes(1);
  static constexpr Duration kFirstRefusal = std::chrono::minutes(1);
  static constexpr Duration kLongestRefusal = std::chrono::hours(1);
  static constexpr std::size_t kMostRemembered = 1024;

  /// It gave no state.
  void failed(PeerId const& donor, TimePoint now);
  /// It gave a wrong one.
  void refused(PeerId const& donor, std::string why, TimePoint now);

  /// It gave a good one.
  void gave(PeerId const& donor) { records_.erase(donor); }

  [[nodiscard]] bool may_ask(PeerId const& donor, TimePoint now) const;
  /// Of those refused and not yet to be asked again.
  [[nodiscard]] std::map<PeerId, std::string> refusals(TimePoint now) const;

 private:
  struct Record {
    int failures = 0;
    int refusals = 0;
    TimePoint until{};
    std::string why;
  };

  Record& record(PeerId const& donor);

  std::map<PeerId, Record> records_;
};

}  // namespace waggle::optim
