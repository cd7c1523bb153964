// SPDX-License-Identifier: MIT
#include "core/averaging/matchmaking.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace waggle::averaging {

void Matchmaking::begin(std::string key, Bytes gather) {
  end();
  searching_ = true;
  key_ = std::move(key);
  gather_ = std::move(gather);
  queue_.clear();
  attempts_.clear();
  suggestion_.reset();
  suggestions_ = 0;
  group_.reset();
}

void Matchmaking::end() {
  disband();
  searching_ = false;
  declared_ = kUndeclared;
  leader_.reset();
}

void Matchmaking::listed(std::vector<Candidate> entries, dht::DhtTime now) {
  std::erase_if(entries, [&](Candidate const& c) {
    return c.peer == settings_.self || !std::isfinite(c.expiration) || c.expiration < now;
  });
  std::sort(entries.begin(), entries.end(), [](Candidate const& a, Candidate const& b) {
    return a.expiration != b.expiration ? a.expiration < b.expiration : a.peer < b.peer;
  });
  if (entries.size() > kMaxQueue) entries.resize(kMaxQueue);
  queue_ = std::move(entries);
}

bool Matchmaking::leads_before(Candidate const& other) const noexcept {
  if (declared_ != other.expiration) return declared_ < other.expiration;
  return settings_.self < other.peer;
}

std::optional<Candidate> Matchmaking::next_leader(
    std::function<bool(PeerId const&)> const& skip) const {
  if (suggestion_ && !skip(*suggestion_)) return Candidate{*suggestion_, 0};
  for (auto const& candidate : queue_) {
    if (leads_before(candidate)) return std::nullopt;
    if (attempts_.contains({candidate.peer, candidate.expiration})) continue;
    if (!skip(candidate.peer)) return candidate;
  }
  return std::nullopt;
}

void Matchmaking::suggested(PeerId const& peer) {
  if (peer == settings_.self || suggestions_ >= kMaxSuggestions) return;
  ++suggestions_;
  suggestion_ = peer;
}

JoinRequest Matchmaking::join_request(dht::DhtTime expiration) const {
  return {settings_.schema_hash, expiration, gather_, settings_.client_mode, key_};
}

MessageCode Matchmaking::check_join(PeerId const& caller,
                                    JoinRequest const& request,
                                    bool asking) const {
  if (!searching_ || group_) return MessageCode::not_looking_for_group;
  if (request.schema_hash.empty() || !std::isfinite(request.expiration) || settings_.client_mode ||
      !Gather::parse(request.gather))
    return MessageCode::protocol_violation;
  if (request.schema_hash != settings_.schema_hash) return MessageCode::bad_schema_hash;
  if (request.group_key != key_) return MessageCode::bad_group_key;
  if (declared_ == kUndeclared) return MessageCode::not_declared;
  if (declared_ > request.expiration) return MessageCode::bad_expiration_time;
  // Both ask each other with the same expiration: one must give way, and both know which.
  if (asking && !request.client_mode && !leads_before({caller, request.expiration}))
    return MessageCode::bad_expiration_time;
  if (leader_) return MessageCode::not_a_leader;
  auto const same = [&](auto const& follower) { return follower->peer == caller; };
  if (caller == settings_.self || std::any_of(followers_.begin(), followers_.end(), same))
    return MessageCode::duplicate_peer_id;
  if (full() || followers_.size() + 1 >= kMaxQueue) return MessageCode::group_is_full;
  return MessageCode::accepted;
}

std::shared_ptr<Follower> Matchmaking::accept(PeerId const& caller, JoinRequest request) {
  auto follower = std::make_shared<Follower>();
  follower->peer = caller;
  follower->request = std::move(request);
  followers_.push_back(follower);
  return follower;
}

void Matchmaking::left(std::shared_ptr<Follower> const& follower) {
  if (follower->fate == Follower::Fate::waiting) follower->fate = Follower::Fate::gone;
  std::erase(followers_, follower);
}

bool Matchmaking::has_all(std::vector<PeerId> const& expected) const {
  return std::all_of(expected.begin(), expected.end(), [&](PeerId const& peer) {
    return peer == settings_.self || std::any_of(followers_.begin(),
                                                 followers_.end(),
                                                 [&](auto const& f) { return f->peer == peer; });
  });
}

void Matchmaking::disband() {
  for (auto const& follower : followers_) {
    if (follower->fate != Follower::Fate::waiting) continue;
    follower->fate = Follower::Fate::disbanded;
    follower->suggested_leader = leader_;
  }
  followers_.clear();
}

void Matchmaking::follow(PeerId const& leader) {
  leader_ = leader;
  disband();
}

Result<std::shared_ptr<Group const>> Matchmaking::assemble(
    Bytes group_id, std::function<std::uint64_t(std::uint64_t)> const& below) {
  std::vector<std::pair<PeerId, Bytes>> members{{settings_.self, gather_}};
  for (auto const& follower : followers_)
    members.emplace_back(follower->peer, follower->request.gather);
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[below(i)]);
  std::vector<PeerId> ids;
  std::vector<Bytes> gathered;
  for (auto& [peer, gather] : members) {
    ids.push_back(peer);
    gathered.push_back(std::move(gather));
  }
  WAGGLE_TRY(auto group,
             make_group(std::move(group_id), std::move(ids), std::move(gathered), settings_.self));
  group_ = std::make_shared<Group const>(std::move(group));
  for (auto const& follower : followers_) {
    follower->fate = Follower::Fate::begins;
    follower->group = group_;
  }
  followers_.clear();
  return group_;
}

Result<std::shared_ptr<Group const>> Matchmaking::joined(MessageFromLeader const& message) {
  WAGGLE_TRY(
      auto group,
      make_group(message.group_id, message.ordered_peer_ids, message.gathered, settings_.self));
  if (!leader_ || !group.position(*leader_))
    return Error{Errc::malformed, "the leader is not in its own group"};
  group_ = std::make_shared<Group const>(std::move(group));
  return group_;
}

}  // namespace waggle::averaging
