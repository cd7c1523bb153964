// SPDX-License-Identifier: MIT
#include "core/node/tasks/finder.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

constexpr Duration kFirstWait = std::chrono::milliseconds(500);
constexpr Duration kLongestWait = std::chrono::seconds(60);
constexpr Duration kSearchTime = std::chrono::seconds(10);

// What this data directory knows: the record of (operator, prefix), or of the one operator pinned
// to the prefix.
Co<Result<std::optional<store::KnownTask>>> recall(Services& services, task::Link link) {
  auto read = [&store = services.store(), link]() -> Result<std::optional<store::KnownTask>> {
    if (!link.operator_id.empty()) return store.task(link.operator_id.bytes(), link.prefix);
    WAGGLE_TRY(auto tasks, store.tasks());
    auto const pinned = std::find_if(
        tasks.begin(), tasks.end(), [&](auto const& t) { return t.prefix == link.prefix; });
    if (pinned == tasks.end()) return std::optional<store::KnownTask>{};
    return std::optional<store::KnownTask>(std::move(*pinned));
  };
  co_return co_await on(services.disk(), services.runtime(), std::move(read));
}

}  // namespace

Co<Result<Finding>> find_task(Services& services, task::Link link, TimePoint deadline) {
  WAGGLE_CO_TRY(auto const known, co_await recall(services, link));
  if (known && link.operator_id.empty())
    if (auto const pinned = PeerId::from_bytes(known->operator_id)) link.operator_id = *pinned;
  auto& runtime = services.runtime();
  auto wait = kFirstWait;
  for (;;) {
    auto const search_until = std::min(deadline, runtime.now() + kSearchTime);
    Error failed{Errc::not_found, ""};
    if (link.operator_id.empty()) {
      auto operators = co_await services.directory().operators(link.prefix, search_until);
      if (operators && operators->size() > 1) co_return Finding(NeedsChoice{*std::move(operators)});
      if (operators && operators->size() == 1) link.operator_id = operators->front();
      if (!operators) failed = std::move(operators).error();
    }
    if (!link.operator_id.empty()) {
      auto found = co_await services.directory().find(link.operator_id, link.prefix, search_until);
      if (found) {
        if (found->first.ended)
          co_return Error{Errc::refused, cat("task ", link.prefix, " was ended by its operator")};
        co_return Finding(FoundTask{std::move(found->first), std::move(found->second)});
      }
      failed = std::move(found).error();
    }
    if (failed.code == Errc::cancelled) co_return failed;
    // The swarm may be asleep: whoever held the task before can wake it.
    if (known && !known->envelope.empty()) {
      auto record = task::TaskRecord::open(known->envelope, link.operator_id, link.prefix);
      if (record) co_return Finding(FoundTask{*std::move(record), known->envelope});
    }
    if (runtime.now() + wait > deadline)
      co_return Error{Errc::timeout,
                      cat("nobody reachable knows the task ",
                          link.prefix,
                          "; is one of the addresses in its link alive?")};
    log::info(
        "node", "nobody knows ", link.prefix, " yet, asking again in ", to_seconds(wait), " s");
    WAGGLE_CO_TRY_STATUS(co_await runtime.sleep_for(wait));
    wait = std::min(wait * 2, kLongestWait);
  }
}

Co<Status> remember_task(Services& services, FoundTask found, bool joined) {
  store::KnownTask task;
  task.operator_id = to_bytes(found.record.operator_id.bytes());
  task.prefix = found.record.prefix;
  task.version = found.record.version;
  task.envelope = std::move(found.envelope);
  task.joined = joined;
  task.last_used = services.runtime().unix_time();
  auto write = [&store = services.store(), task = std::move(task)]() mutable {
    // What a person asked of it before stands (wish.hpp).
    auto const before = store.task(task.operator_id, task.prefix);
    if (before && *before) task.state = (*before)->state;
    return store.put_task(task);
  };
  co_return co_await on(services.disk(), services.runtime(), std::move(write));
}

}  // namespace waggle::node
