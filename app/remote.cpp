// SPDX-License-Identifier: MIT
#include "app/remote.hpp"

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/text.hpp"

namespace waggle::app {
namespace {

using node::control::LinkState;
using node::control::Machines;

constexpr auto kPatience = std::chrono::seconds(20);

}  // namespace

Result<std::unique_ptr<Machines>> open_machines(Common const& common) {
  Machines::Options options;
  options.data_dir = common.data_dir;
  options.version = WAGGLE_VERSION;
  options.watch_all = false;
  return Machines::open(std::move(options));
}

void add_on(CLI::App& command, std::string& on) {
  command.add_option(
      "--on", on, "Not here, but on this paired machine: its name or PeerID (see waggle machines)");
}

Result<node::Snapshot> snapshot_of(Common const& common, std::string const& on) {
  WAGGLE_TRY(auto const machines, open_machines(common));
  WAGGLE_TRY(auto const contact, machines->find(on));
  std::mutex mutex;
  std::condition_variable stirred;
  bool changed = false;
  machines->on_change([&] {
    {
      std::lock_guard const lock(mutex);
      changed = true;
    }
    stirred.notify_all();
  });
  machines->watch(contact.peer);
  auto const deadline = std::chrono::steady_clock::now() + kPatience;
  std::string why;
  for (;;) {
    for (auto const& m : machines->list()) {
      if (m.name != contact.name) continue;
      if (m.state == LinkState::watching && m.snapshot) return *m.snapshot;
      if (m.state == LinkState::refused)
        return Error{Errc::refused, cat(contact.name, ": ", m.why)};
      why = m.why;
    }
    std::unique_lock lock(mutex);
    if (!stirred.wait_until(lock, deadline, [&] { return changed; }))
      return Error{Errc::timeout,
                   cat(contact.name, " does not answer", why.empty() ? "" : ": ", why)};
    changed = false;
  }
}

Status give_to(Common const& common, std::string const& on, node::Command command) {
  WAGGLE_TRY(auto const machines, open_machines(common));
  WAGGLE_TRY(auto const contact, machines->find(on));
  machines->watch(contact.peer);
  std::promise<Status> done;
  machines->give(contact.peer, std::move(command), kPatience, [&done](Status status) {
    done.set_value(std::move(status));
  });
  auto status = done.get_future().get();
  if (status) return ok();
  return Error{status.error().code, cat(contact.name, ": ", status.error().detail)};
}

}  // namespace waggle::app
