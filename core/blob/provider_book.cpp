// SPDX-License-Identifier: MIT
#include "core/blob/provider_book.hpp"

#include <algorithm>
#include <tuple>

namespace waggle::blob {
namespace {

// A partial holder gets new chunks all the time.
constexpr Duration kAskAgain = std::chrono::seconds(1);
constexpr std::uint32_t kUseless = 3;  // failures in a row

}  // namespace

void ProviderBook::add(PeerId const& peer, bool first) {
  if (auto const known = providers_.find(peer); known != providers_.end()) {
    known->second.first |= first;
    return;
  }
  if (providers_.size() >= kMaxProviders) {
    auto worst = providers_.end();
    for (auto at = providers_.begin(); at != providers_.end(); ++at) {
      bool const expendable =
          at->second.streams == 0 && at->second.failures >= kUseless && at->second.lies < kMaxLies;
      if (expendable && (worst == providers_.end() || at->second.failures > worst->second.failures))
        worst = at;
    }
    if (worst == providers_.end()) return;
    providers_.erase(worst);
  }
  providers_[peer].first = first;
}

std::optional<PeerId> ProviderBook::pick(TimePoint now) {
  auto best = providers_.end();
  auto rank = [](Provider const& p) { return std::tuple(p.streams, p.failures, !p.first); };
  for (auto at = providers_.begin(); at != providers_.end(); ++at) {
    auto const& p = at->second;
    // One probe at a time of a peer that failed.
    std::size_t const most = p.failures > 0 ? 1 : kStreamsEach;
    if (p.lies >= kMaxLies || p.streams >= most || p.due > now) continue;
    if (best == providers_.end() || rank(p) < rank(best->second)) best = at;
  }
  if (best == providers_.end()) return std::nullopt;
  ++best->second.streams;
  ++streams_;
  return best->first;
}

void ProviderBook::gave(PeerId const& peer) {
  if (auto const found = providers_.find(peer); found != providers_.end())
    found->second.failures = 0;
}

void ProviderBook::ended(PeerId const& peer, Ending how, TimePoint now) {
  auto const found = providers_.find(peer);
  if (found == providers_.end()) return;
  auto& p = found->second;
  if (p.streams > 0) {
    --p.streams;
    --streams_;
  }
  auto const wait = [](std::uint32_t times) {
    return std::min<Duration>(kFirstWait * (1u << std::min<std::uint32_t>(times, 10)),
                              kLongestWait);
  };
  switch (how) {
    case Ending::greeted:
      break;
    case Ending::drained:
      p.due = now + kAskAgain;
      break;
    case Ending::busy:
      p.due = now + 2 * kAskAgain;
      break;
    case Ending::failed:
      p.due = now + wait(p.failures++);
      break;
    case Ending::lied:
      ++p.lies;
      p.due = now + wait(p.failures++);
      break;
  }
}

TimePoint ProviderBook::next_due(TimePoint now) const {
  TimePoint due = kNoDeadline;
  for (auto const& [peer, p] : providers_)
    if (p.lies < kMaxLies && p.due > now) due = std::min(due, p.due);
  return due;
}

std::size_t ProviderBook::useful() const noexcept {
  auto const counts = [](auto const& entry) {
    return entry.second.lies < kMaxLies && entry.second.failures < kUseless;
  };
  return static_cast<std::size_t>(std::count_if(providers_.begin(), providers_.end(), counts));
}

bool ProviderBook::banned(PeerId const& peer) const {
  auto const found = providers_.find(peer);
  return found != providers_.end() && found->second.lies >= kMaxLies;
}

}  // namespace waggle::blob
