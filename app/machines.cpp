// SPDX-License-Identifier: MIT
// The machines that this one watches.
#include "core/node/control/machines.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

#include "app/command.hpp"
#include "app/remote.hpp"
#include "app/signals.hpp"

namespace waggle::app {
namespace {

using node::control::LinkState;
using node::control::Machines;
using node::control::MachineState;
using Json = nlohmann::json;

struct Flags {
  std::string forget;
  double patience = 5;
};

char const* word_of(LinkState state) {
  switch (state) {
    case LinkState::connecting:
      return "no answer yet";
    case LinkState::watching:
      return "watching";
    case LinkState::lost:
      return "lost";
    case LinkState::refused:
      return "refused";
  }
  return "";
}

std::string does(MachineState const& m) {
  if (m.state != LinkState::watching || !m.snapshot) return m.why;
  if (m.snapshot->tasks.empty()) return "no task";
  auto const& t = m.snapshot->tasks.front();
  return cat(t.title.empty() ? t.prefix : t.title,
             ": ",
             t.state,
             t.reason.empty() ? "" : cat(", ", t.reason),
             ", epoch ",
             t.epoch);
}

bool settled(std::vector<MachineState> const& all) {
  for (auto const& m : all)
    if (m.state == LinkState::connecting) return false;
  return true;
}

int list(Common const& common, Flags const& flags) {
  signals::catch_interrupts();
  Machines::Options options;
  options.data_dir = common.data_dir;
  options.version = WAGGLE_VERSION;
  auto const machines = Machines::open(std::move(options));
  if (!machines) return fail(common, machines.error());
  constexpr int kLook = 100;  // milliseconds
  auto all = (*machines)->list();
  for (int waited = 0; !settled(all) && waited < flags.patience * 1000 && signals::count() == 0;
       waited += kLook) {
    signals::wait(kLook);
    all = (*machines)->list();
  }
  if (all.empty() && !common.json)
    std::printf("no machine is paired; at the machine to watch: waggle pair\n");
  for (auto const& m : all) {
    if (common.json) {
      Json const object = {{"name", m.name},
                           {"peer_id", m.peer_id},
                           {"right", word(m.right)},
                           {"state", word_of(m.state)},
                           {"since", m.since},
                           {"why", m.why},
                           {"tasks", m.snapshot ? m.snapshot->tasks.size() : 0}};
      std::printf("%s\n", object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
      std::printf("%-20s %-14s %-8s %s\n",
                  m.name.c_str(),
                  word_of(m.state),
                  std::string(word(m.right)).c_str(),
                  does(m).c_str());
    }
  }
  return kDone;
}

int forget(Common const& common, std::string const& wanted) {
  auto const machines = open_machines(common);
  if (!machines) return fail(common, machines.error());
  auto const contact = (*machines)->find(wanted);
  if (!contact) return fail(common, contact.error());
  std::promise<Status> done;
  (*machines)->forget(contact->peer, [&done](Status s) { done.set_value(std::move(s)); });
  auto const status = done.get_future().get();
  if (!status) return fail(common, status.error());
  std::printf(common.json ? "{\"ok\":true}\n" : "%s is forgotten here\n", contact->name.c_str());
  return kDone;
}

}  // namespace

void add_machines(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("machines", "The machines that this one watches, and how they are");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command->add_option("--forget", flags->forget, "Watch it no more: a name or a PeerID");
  command->add_option("--wait", flags->patience, "Seconds to wait for those that do not answer")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  add_examples(*command,
               "  waggle machines\n  waggle status --on server\n  waggle pause --on server\n"
               "  waggle machines --forget server\n");
  command->callback([&common, &chosen, flags] {
    chosen = [&common, flags] {
      return flags->forget.empty() ? list(common, *flags) : forget(common, flags->forget);
    };
  });
}

}  // namespace waggle::app
