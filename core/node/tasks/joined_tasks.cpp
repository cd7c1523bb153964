// SPDX-License-Identifier: MIT
#include "core/node/tasks/joined_tasks.hpp"

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/tasks/files.hpp"
#include "core/node/tasks/forget.hpp"

namespace waggle::node {
namespace {

constexpr std::string_view kChosenSetting = "trains";

std::string text_of(TaskKey const& key) {
  return cat(crypto::to_text(key.first), '/', key.second);
}

TaskView waiting_view(Services& services, FoundTask const& found) {
  TaskView view;
  view.operator_id = crypto::to_text(found.record.operator_id);
  view.prefix = found.record.prefix;
  view.link = task::Link{view.prefix, found.record.operator_id, services.link_addresses()}.text();
  view.state = "waiting";
  if (auto const d = task::Definition::parse(found.record.toml, "a joined task")) {
    view.title = d->title;
    view.target_batch_size = static_cast<std::uint64_t>(d->swarm.target_batch_size);
  }
  return view;
}

}  // namespace

Co<void> JoinedTasks::load() {
  auto read = [&store = services_.store()] { return store.tasks(); };
  auto const tasks = co_await on(services_.disk(), services_.runtime(), std::move(read));
  if (!tasks) {
    log::warning("store", tasks.error().detail);
    co_return;
  }
  for (auto const& known : *tasks) {
    auto const operator_id = PeerId::from_bytes(known.operator_id);
    if (!known.joined || !operator_id) continue;
    auto record = task::TaskRecord::open(known.envelope, *operator_id, known.prefix);
    if (record) note(FoundTask{*std::move(record), known.envelope});
  }
}

void JoinedTasks::note(FoundTask const& found) {
  auto const key = key_of(found);
  if (auto const at = entries_.find(key); at != entries_.end()) {
    if (found.record.version > at->second.found.record.version) at->second.found = found;
  } else {
    entries_.emplace(key, Entry{found, waiting_view(services_, found)});
  }
  serve_files_of(services_, found.record);
  services_.directory().keep_alive(found.record, found.envelope, false);
}

Co<void> JoinedTasks::add(FoundTask found) {
  note(found);
  auto const kept = co_await remember_task(services_, std::move(found), true);
  if (!kept && kept.error().code != Errc::cancelled) services_.notice(kept.error().detail);
}

void JoinedTasks::left(TaskKey const& key, TaskView view) {
  auto const at = entries_.find(key);
  if (at == entries_.end()) return;
  // What only a running task has.
  view.phase.clear();
  view.paused_by.clear();
  view.samples_this_epoch = view.swarm_samples = 0;
  view.samples_per_second = view.swarm_samples_per_second = view.eta = 0;
  view.swarm_peers = 0;
  view.ignored_peers.clear();
  view.volunteers.clear();
  if (view.state != "done" && view.state != "failed") {
    view.state = "waiting";
    view.reason.clear();
  }
  at->second.view = std::move(view);
}

Co<Result<std::uint64_t>> JoinedTasks::forget(TaskKey key) {
  services_.directory().stop_keeping(key.first, key.second);
  entries_.erase(key);
  auto work = [&store = services_.store(), folder = services_.options().data_dir, key] {
    return forget_task(store, folder, key.first, key.second);
  };
  auto const forgotten = co_await on(services_.disk(), services_.runtime(), std::move(work));
  if (!forgotten) co_return forgotten.error();
  co_return forgotten->freed + services_.drop_blobs(forgotten->blobs);
}

Co<std::optional<FoundTask>> JoinedTasks::chosen() {
  auto read = [&store = services_.store()] { return store.setting(kChosenSetting); };
  auto const text = co_await on(services_.disk(), services_.runtime(), std::move(read));
  if (text && *text)
    for (auto const& [key, entry] : entries_)
      if (text_of(key) == **text) co_return entry.found;
  co_return std::nullopt;
}

void JoinedTasks::choose(std::optional<TaskKey> const& key) {
  services_.disk().post([&services = services_, text = key ? text_of(*key) : std::string()] {
    if (auto const kept = services.store().put_setting(kChosenSetting, text); !kept)
      services.not_kept(kept.error().detail);
  });
}

}  // namespace waggle::node
