// SPDX-License-Identifier: MIT
// The calls of matchmaking, both ends: asking a leader, and serving those who ask us.
#include <algorithm>

#include "core/averaging/detail/matchmaker_limits.hpp"
#include "core/averaging/matchmaker.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::averaging {

using namespace limits;

/// One request under way.
struct Matchmaker::Ask {
  net::rpc::ClientCall* call = nullptr;
  bool dropped = false;

  void drop() noexcept {
    dropped = true;
    if (call != nullptr) call->reset();
  }
};

void Matchmaker::start_asking(Scope& tasks, Search const& search) {
  auto const now = runtime_.now();
  for (;;) {
    if (asking_.size() >= kMaxAsks) return;
    auto const patience = last_ask_connected_ ? kHedgeConnected : kHedgeUnconnected;
    if (!asking_.empty() && now - last_ask_ < patience) return;
    auto const skip = [&](PeerId const& peer) {
      return asking_.contains(peer) || left_alone(peer);
    };
    auto const candidate = rules_.next_leader(skip);
    if (!candidate) return;
    rules_.asked(*candidate);
    last_ask_ = now;
    last_ask_connected_ = host_.connected(candidate->peer);
    asking_[candidate->peer] = nullptr;
    auto const expiration = rules_.declared() != Matchmaking::kUndeclared
                                ? rules_.declared()
                                : request_expiration(search);
    tasks.spawn("ask", ask(*candidate, expiration, search.deadline));
  }
}

Co<void> Matchmaker::ask(Candidate candidate, dht::DhtTime expiration, TimePoint deadline) {
  auto const peer = candidate.peer;
  Ask state;
  asking_[peer] = &state;
  auto const began = runtime_.now();
  auto const until = std::min(deadline, began + options_.request_timeout);
  auto opened = co_await net::rpc::ClientCall::open(host_, peer, rpc_name_, until);
  Result<std::optional<Bytes>> first = std::optional<Bytes>{};
  if (!opened) {
    first = std::move(opened).error();
  } else if (!state.dropped) {
    state.call = opened->get();
    auto const request = encode(rules_.join_request(expiration));
    auto sent = co_await (*opened)->send(request, until);
    if (sent) sent = co_await (*opened)->finish(until);
    if (sent) {
      first = co_await (*opened)->receive(until);
    } else {
      first = std::move(sent).error();
    }
  }
  bool const left = !first && first.error().code == Errc::cancelled;
  bool const wanted =
      !left && !state.dropped && rules_.searching() && !rules_.group() && !rules_.leader();
  if (!first && wanted) {
    silent(peer);
    log::debug("averaging", crypto::short_text(peer), " as leader: ", first.error().detail);
  } else if (!first && runtime_.now() - began >= kHedgeUnconnected) {
    silent(peer, true);  // overtaken by the next candidate; or it would cost as much the next time
  }
  if (left) {
    asking_.erase(peer);
    co_return;
  }
  if (first && *first && wanted) {
    silences_.erase(peer);
    auto const message = parse_message_from_leader(**first);
    if (message && message->code == MessageCode::accepted) {
      rules_.follow(peer);
      for (auto const& [other, ask] : asking_)
        if (other != peer && ask != nullptr) ask->drop();
      changed_.notify_all();
      co_await follow(**opened, peer, expiration);
    } else if (message) {
      log::debug("averaging", crypto::short_text(peer), " as leader: ", name(message->code));
      if (message->code == MessageCode::not_a_leader && message->suggested_leader)
        take_suggestion(*message->suggested_leader);
      if (message->code == MessageCode::bad_schema_hash) note_other_model(peer);
    }
  }
  asking_.erase(peer);
  changed_.notify_all();
}

void Matchmaker::note_other_model(PeerId const& peer) {
  if (other_models_.size() >= kMaxOtherModels || !other_models_.insert(peer).second) return;
  log::warning("averaging",
               crypto::to_text(peer),
               " has another model than ours under this prefix, so nothing is averaged with it (",
               rpc_name_,
               ")");
}

void Matchmaker::take_suggestion(PeerId const& peer) {
  silences_.erase(peer);  // somebody who follows it says that it is there
  rules_.suggested(peer);
}

Co<void> Matchmaker::follow(net::rpc::ClientCall& call, PeerId leader, dht::DhtTime expiration) {
  auto const until = time_point(expiration) + options_.request_timeout;
  auto second = co_await call.receive(until);
  if (!second && second.error().code == Errc::cancelled) co_return;
  if (rules_.leader() != leader || !rules_.searching() || rules_.group()) co_return;
  if (second && *second) {
    auto const message = parse_message_from_leader(**second);
    if (message && message->code == MessageCode::begin_allreduce) {
      auto const group = rules_.joined(*message);
      if (group) {
        if (on_group) on_group(*group);
        co_return;
      }
      log::info("averaging",
                crypto::short_text(leader),
                " began a group that cannot be: ",
                group.error().detail);
      silent(leader);
    } else if (message && message->suggested_leader) {
      take_suggestion(*message->suggested_leader);
    }
  } else if (!second) {
    silent(leader);  // it took us and then fell silent: not again at once
  }
  rules_.unfollow();
}

Co<Status> Matchmaker::serve(net::rpc::ServerCall& call) {
  auto const patience = runtime_.now() + options_.request_timeout;
  auto item = co_await call.receive(patience);
  if (!item) co_return std::move(item).error();
  if (!*item) co_return Error{Errc::malformed, "a JoinRequest is missing"};
  auto request = parse_join_request(**item);
  auto const caller = call.caller();
  silences_.erase(caller);
  auto const asking = asking_.find(caller);
  auto code = MessageCode::protocol_violation;
  if (request) code = rules_.check_join(caller, *request, asking != asking_.end());
  if (code == MessageCode::bad_schema_hash) note_other_model(caller);
  if (code == MessageCode::accepted && rules_.followers().size() >= kMaxWaitingFollowers)
    code = MessageCode::group_is_full;
  MessageFromLeader answer;
  answer.code = code;
  if (code != MessageCode::accepted) {
    if (code == MessageCode::not_a_leader) answer.suggested_leader = rules_.leader();
    auto const bytes = encode(answer);
    co_return co_await call.send(bytes, {}, runtime_.now() + options_.request_timeout);
  }
  // Our own request to the same peer, if any, has lost: it comes to us.
  if (asking != asking_.end() && asking->second != nullptr) asking->second->drop();
  auto const follower = rules_.accept(caller, *std::move(request));
  last_join_ = runtime_.now();
  auto const accepted = encode(answer);
  auto const sent = co_await call.send(accepted, {}, runtime_.now() + options_.request_timeout);
  if (!sent) {
    rules_.left(follower);
    changed_.notify_all();
    co_return sent;
  }
  changed_.notify_all();
  while (follower->fate == Follower::Fate::waiting) {
    auto const waited = co_await changed_.wait();
    if (!waited) {
      rules_.left(follower);  // it hung up
      changed_.notify_all();
      co_return waited;
    }
  }
  MessageFromLeader last;
  if (follower->fate == Follower::Fate::begins) {
    last = follower->group->begin_message();
  } else {
    last.code = MessageCode::group_disbanded;
    last.suggested_leader = follower->suggested_leader;
  }
  auto const bytes = encode(last);
  co_return co_await call.send(bytes, {}, runtime_.now() + options_.request_timeout);
}

}  // namespace waggle::averaging
