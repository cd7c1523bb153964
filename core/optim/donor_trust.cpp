// SPDX-License-Identifier: MIT
#include "core/optim/donor_trust.hpp"

#include <algorithm>

namespace waggle::optim {

namespace {

constexpr int kMostDoublings = 8;

Duration rest(Duration first, Duration longest, int& times) {
  auto const pause = std::min<Duration>(longest, first * (1 << times));
  times = std::min(times + 1, kMostDoublings);
  return pause;
}

}  // namespace

DonorTrust::Record& DonorTrust::record(PeerId const& donor) {
  if (records_.size() >= kMostRemembered && !records_.contains(donor)) records_.clear();
  return records_[donor];
}

void DonorTrust::failed(PeerId const& donor, TimePoint now) {
  auto& r = record(donor);
  r.until = std::max(r.until, now + rest(kFirstRest, kLongestRest, r.failures));
}

void DonorTrust::refused(PeerId const& donor, std::string why, TimePoint now) {
  auto& r = record(donor);
  r.until = now + rest(kFirstRefusal, kLongestRefusal, r.refusals);
  r.why = std::move(why);
}

bool DonorTrust::may_ask(PeerId const& donor, TimePoint now) const {
  auto const found = records_.find(donor);
  return found == records_.end() || now >= found->second.until;
}

std::map<PeerId, std::string> DonorTrust::refusals(TimePoint now) const {
  std::map<PeerId, std::string> reasons;
  for (auto const& [donor, r] : records_)
    if (!r.why.empty() && now < r.until) reasons[donor] = r.why;
  return reasons;
}

}  // namespace waggle::optim
