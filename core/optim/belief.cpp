// SPDX-License-Identifier: MIT
#include "core/optim/belief.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::optim {

namespace {

// Rates: larger believes a fast machine among slow ones at once, smaller gives a liar less.
constexpr double kRateMultiple = 8;
// Votes on the epoch weigh more carefully: a wrong one makes us load a state.
constexpr double kVoteMultiple = 2;
// An unproven peer weighs at most this part of all the others together, when there are three.
constexpr double kBelowHalf = 0.9;
// Beyond these a record is a lie, not a fast machine.
constexpr double kLyingRateMultiple = 1e4;
constexpr double kLyingRate = 1e12;
constexpr double kLyingSamplesMultiple = 1000;
// Slack on how far the swarm can have gone: rates are averages, and clocks drift.
constexpr double kLeadSlack = 3;
constexpr int kBrokenPromises = 2;
// Of the batch, or of what a record promises, that a weight may be: records lag behind.
constexpr double kShares = 2;
constexpr double kRecordLag = 1;
// A peer not heard of for so long starts anew.
constexpr double kForgetAfter = 3600;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  double const upper = *middle;
  double const lower = *std::max_element(values.begin(), middle);
  return (lower + upper) / 2;
}

bool measured(double rate) {
  return rate > 1e-12;
}

// Why a peer's samples do not count for now: no blame, since a slow line does the same.
std::string unkept(std::uint64_t announced, double brought, int rounds) {
  if (brought <= 0)
    return cat("missed ",
               rounds,
               " rounds running; the ",
               announced,
               " samples that it announces count once it brings some");
  return cat("brought ",
             brought,
             " samples where it had announced more, ",
             rounds,
             " rounds running; its samples count once it keeps up");
}

}  // namespace

Belief::Belief(PeerId self, std::uint64_t target_batch_size, RefreshLimits limits)
    : self_(self), target_(target_batch_size), limits_(limits) {
}

void Belief::entered(std::int64_t epoch, double now) {
  our_epoch_ = epoch;
  entered_at_ = now;
  anchored_ = true;
}

void Belief::round_begins() {
  round_ = Round{last_, our_epoch_};
}

void Belief::came_along(std::span<PeerId const> group) {
  with_us_.clear();
  for (auto const& peer : group)
    if (peer != self_) with_us_.insert(peer);
}

void Belief::took_part(std::span<PeerId const> group,
                       std::span<double const> weights,
                       double seconds) {
  came_along(group);
  std::map<PeerId, double> brought;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i] == self_) continue;
    brought[group[i]] = i < weights.size() ? weights[i] : -1;
  }
  auto const round = std::exchange(round_, std::nullopt).value_or(Round{last_, our_epoch_});
  for (auto const& peer : round.view.peers) {
    if (peer.epoch != round.epoch) continue;
    auto& known = known_[peer.peer];
    // Who is ignored for broken promises is watched on: it may begin to keep them.
    if (!peer.believed && known.broken_promises < kBrokenPromises) continue;
    auto const found = brought.find(peer.peer);
    double const weight = found == brought.end() ? 0.0 : found->second;
    if (weight < 0) continue;  // none of its parts came by here
    known.brought = weight;
    bool const worth_judging = peer.samples >= 1 && group.size() > 1;
    if (worth_judging)
      known.broken_promises = weight < peer.samples / 4 ? known.broken_promises + 1 : 0;
  }
  for (auto const& [peer, weight] : brought) {
    if (weight <= 0 || seconds <= 0) continue;
    auto& known = known_[peer];
    double const rate = std::min(weight, static_cast<double>(target_)) / seconds;
    known.proven_rate = std::max(rate, 0.5 * known.proven_rate);
  }
}

std::string Belief::unreasonable(Claim const& claim, double median_of_others) const {
  auto const& p = claim.progress;
  if (!claim.seen) return "was never met on a connection";
  if (p.samples_per_second > kLyingRate ||
      (median_of_others > 0 && p.samples_per_second > kLyingRateMultiple * median_of_others))
    return cat(
        "claims ", p.samples_per_second, " samples/s, the others' median is ", median_of_others);
  if (static_cast<double>(p.samples_accumulated) >
      kLyingSamplesMultiple * static_cast<double>(target_))
    return cat("claims ", p.samples_accumulated, " samples of a batch of ", target_);
  return {};
}

// Nobody can be further than the swarm can have gone since we were last together: since we entered
// our epoch, or since this peer's last claim that was possible.
std::int64_t Belief::furthest(Known const& known, double rate, double now) const {
  auto const gone = [&](double since) {
    double const epochs =
        kLeadSlack * std::max(0.0, now - since) * rate / static_cast<double>(target_);
    return static_cast<std::int64_t>(std::min(0.5 + epochs, 1e15));
  };
  auto const from_us = our_epoch_ + gone(entered_at_);
  if (known.epoch < 0) return from_us;
  return std::max(from_us, known.epoch + gone(known.since));
}

void Belief::cap(std::vector<Standing>& peers, LocalProgress const& us, double now) const {
  double const target = static_cast<double>(target_);
  double const epoch_age = std::max(0.0, now - entered_at_);
  std::vector<double> rates(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::vector<double> others;
    std::vector<double> samples;
    if (measured(us.samples_per_second)) others.push_back(us.samples_per_second);
    samples.push_back(static_cast<double>(us.samples_accumulated));
    for (std::size_t j = 0; j < peers.size(); ++j) {
      if (j == i || !peers[j].believed) continue;
      if (measured(peers[j].samples_per_second)) others.push_back(peers[j].samples_per_second);
      if (peers[j].epoch == peers[i].epoch) samples.push_back(peers[j].samples);
    }
    auto const known = known_.find(peers[i].peer);
    double const proven = known == known_.end() ? 0 : 2 * known->second.proven_rate;
    double const limit = std::max(kRateMultiple * median(others), proven);
    rates[i] =
        others.empty() ? peers[i].samples_per_second : std::min(peers[i].samples_per_second, limit);
    // What it could have computed since the epoch began here, or what the others managed.
    double most = target;
    if (anchored_ && !others.empty() && peers[i].epoch == our_epoch_)
      most = std::min(most,
                      std::max(2 * rates[i] * epoch_age, kRateMultiple * median(samples)) +
                          target / static_cast<double>(peers.size() + 1));
    peers[i].estimated = std::min(peers[i].samples, most);
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    peers[i].samples_per_second = rates[i];
    peers[i].samples = peers[i].estimated;
    // The dead compute nothing; a clock that is behind does not make samples.
    double age = std::max(0.0, now - peers[i].time);
    if (anchored_ && peers[i].epoch == our_epoch_) age = std::min(age, epoch_age);
    if (peers[i].connected) peers[i].estimated += rates[i] * age;
  }
}

// The highest epoch that peers with half of the votes have reached. A vote is a capped rate; who
// has measured none yet votes with the median. Among three or more no unproven peer is half alone,
// so that a single liar never moves a joiner; of two, each is half.
std::int64_t Belief::epoch_of_half(std::vector<Standing> const& peers,
                                   LocalProgress const& us,
                                   bool joining) const {
  struct Vote {
    std::int64_t epoch;
    double weight;
    double proven;
  };

  std::vector<Vote> votes;
  if (!joining) votes.push_back({us.epoch, us.samples_per_second, us.samples_per_second});
  for (auto const& p : peers) {
    if (!p.believed || p.client_mode) continue;
    auto const known = known_.find(p.peer);
    votes.push_back(
        {p.epoch, p.samples_per_second, known == known_.end() ? 0 : 2 * known->second.proven_rate});
  }
  if (votes.empty()) return us.epoch;
  std::vector<double> rates;
  for (auto const& v : votes)
    if (measured(v.weight)) rates.push_back(v.weight);
  double const middle = rates.empty() ? 1.0 : median(rates);
  for (auto& v : votes)
    if (!measured(v.weight)) v.weight = middle;
  if (votes.size() <= 2) {
    for (auto& v : votes) v.weight = 1;
  } else {
    auto const original = votes;
    for (std::size_t i = 0; i < votes.size(); ++i) {
      std::vector<double> others;
      double sum = 0;
      for (std::size_t j = 0; j < original.size(); ++j) {
        if (j == i) continue;
        others.push_back(original[j].weight);
      }
      double const most = kVoteMultiple * median(others);
      for (double const o : others) sum += std::min(o, most);
      votes[i].weight = std::min(original[i].weight,
                                 std::max(std::min(most, kBelowHalf * sum), original[i].proven));
    }
  }
  double total = 0;
  for (auto const& v : votes) total += v.weight;
  std::sort(
      votes.begin(), votes.end(), [](Vote const& a, Vote const& b) { return a.epoch > b.epoch; });
  bool const strict = joining && votes.size() > 1;
  double support = 0;
  for (auto const& v : votes) {
    support += v.weight;
    double const half = total / 2;
    if (strict ? support > half * (1 + 1e-9) : support >= half * (1 - 1e-9)) return v.epoch;
  }
  return votes.back().epoch;
}

View Belief::judge(LocalProgress const& us,
                   bool joining,
                   std::span<Claim const> claims,
                   double now) {
  forget(now);
  std::vector<Standing> peers;
  std::set<PeerId> named;
  for (auto const& claim : claims) {
    auto const& p = claim.progress;
    if (p.peer == self_) continue;
    Standing s{p.peer,
               p.epoch,
               static_cast<double>(p.samples_accumulated),
               0,
               p.samples_per_second,
               p.time,
               p.client_mode,
               claim.connected,
               true,
               {}};
    if (claim.seen) {
      auto& known = known_[p.peer];
      if (known.owner.empty()) known.owner = claim.owner;
      known.last_seen = now;
      if (known.owner != claim.owner) {
        s.believed = false;
        s.reason = "is named by a second key";
      } else if (!named.insert(p.peer).second) {
        s.believed = false;
        s.reason = "is named twice";
      } else if (known.broken_promises >= kBrokenPromises) {
        s.believed = false;
        s.reason = unkept(p.samples_accumulated, known.brought, known.broken_promises);
      }
    }
    if (s.believed) {
      std::vector<double> others;
      if (measured(us.samples_per_second)) others.push_back(us.samples_per_second);
      for (auto const& other : claims)
        if (&other != &claim && other.seen && measured(other.progress.samples_per_second))
          others.push_back(other.progress.samples_per_second);
      s.reason = unreasonable(claim, median(others));
      s.believed = s.reason.empty();
    }
    // Who averaged with us in the last round is in this epoch now, though its record may lag.
    if (s.believed && p.epoch == our_epoch_ - 1 && came_along(p.peer) && claim.connected) {
      s.epoch = our_epoch_;
      s.samples = 0;
      s.time = entered_at_;
    }
    peers.push_back(std::move(s));
  }
  cap(peers, us, now);

  double rate = measured(us.samples_per_second) ? us.samples_per_second : 0;
  for (auto const& p : peers)
    if (p.believed) rate += p.samples_per_second;
  for (auto& p : peers) {
    if (!p.believed) continue;
    auto& known = known_[p.peer];
    if (!joining && anchored_ && p.epoch > furthest(known, rate, now) && p.epoch > us.epoch) {
      p.believed = false;
      p.reason = cat("claims epoch ", p.epoch, ", the swarm is at ", us.epoch);
    }
  }
  View view;
  view.progress_time = now;
  view.swarm_epoch = epoch_of_half(peers, us, joining);
  auto& g = view.progress;
  g.epoch = joining ? view.swarm_epoch : std::max(us.epoch, view.swarm_epoch);
  g.target_batch_size = target_;
  g.peers = 1;
  g.clients = us.client_mode ? 1 : 0;
  double total = measured(us.samples_per_second) ? us.samples_per_second : kNoRate;
  double recorded = 0;
  std::size_t faster = 0;
  if (us.epoch == g.epoch) {
    recorded += static_cast<double>(us.samples_accumulated);
    view.estimated += static_cast<double>(us.samples_accumulated);
  }
  for (auto& p : peers) {
    if (p.believed && joining && p.epoch > view.swarm_epoch + 1) {
      p.believed = false;
      p.reason = cat("claims epoch ", p.epoch, ", the swarm is at ", view.swarm_epoch);
    }
    if (!p.believed) {
      g.ignored.push_back(cat(crypto::short_text(p.peer), ": ", p.reason));
      continue;
    }
    auto& known = known_[p.peer];
    if (p.epoch != known.epoch) {
      known.epoch = p.epoch;
      known.since = now;
    }
    ++g.peers;
    if (p.samples_per_second > us.samples_per_second) ++faster;
    if (p.client_mode) ++g.clients;
    if (p.connected) {
      view.has_peers = true;
      total += p.samples_per_second;
    }
    if (p.epoch == g.epoch) {
      recorded += p.samples;
      view.estimated += p.estimated;
    }
  }
  g.samples_accumulated = static_cast<std::uint64_t>(recorded);
  g.place = measured(us.samples_per_second) ? faster + 1 : 0;
  g.samples_per_second = total;
  double const eta = std::max(0.0, static_cast<double>(target_) - view.estimated) / total;
  g.eta = now + eta;
  g.next_fetch = now + refresh_after(eta, g.peers, limits_);
  view.peers = std::move(peers);
  last_ = view;
  return view;
}

double Belief::weight_limit(PeerId const& peer, double now) const {
  double const target = static_cast<double>(target_);
  auto const& view = round_ ? round_->view : last_;
  auto const epoch = round_ ? round_->epoch : our_epoch_;
  // Others may have left, or be loading a state, without our knowing yet.
  double const peers = static_cast<double>(std::max<std::size_t>(view.progress.peers, 1));
  double const share = std::min(target, kShares * target / peers);
  for (auto const& p : view.peers) {
    if (p.peer != peer) continue;
    if (!p.believed) return share;
    if (p.epoch != epoch) continue;
    if (!measured(p.samples_per_second)) return target;
    double const age = std::max(0.0, now - p.time) + kRecordLag;
    return std::min(target, std::max(kShares * (p.samples + p.samples_per_second * age), share));
  }
  return target;
}

void Belief::forget(double now) {
  std::erase_if(known_,
                [&](auto const& entry) { return now - entry.second.last_seen > kForgetAfter; });
}

}  // namespace waggle::optim
