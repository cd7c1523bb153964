// SPDX-License-Identifier: MIT
// Letting another machine watch this one, and watching another one: a code shown here, typed there.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/node/api/api.hpp"
#include "core/node/api/snapshot_json.hpp"
#include "core/node/control/machines.hpp"
#include "core/node/control/naming.hpp"
#include "core/store/store.hpp"

#include "app/command.hpp"
#include "app/remote.hpp"
#include "app/signals.hpp"

namespace waggle::app {
namespace {

using node::Command;
using node::ControlView;
using node::Snapshot;
using node::control::Contact;
using node::control::Contacts;
using node::control::Machines;
using Json = nlohmann::json;

constexpr auto kPairTime = std::chrono::seconds(60);
constexpr int kLookEvery = 300;        // milliseconds
constexpr int kLooksForTheOffer = 20;  // until the node shows that it has opened

struct Flags {
  std::string address;
  std::string code;
  std::string name;
  bool control = false;
  bool list = false;
  std::string remove;
};

Result<Snapshot> snapshot_here(Common const& common) {
  WAGGLE_TRY(auto const body, node::api_get(api_socket(common), "/v1/snapshot"));
  return node::snapshot_from_json(body);
}

std::filesystem::path paired_file(Common const& common) {
  return common.data_dir / "paired.toml";
}

void say(Common const& common, Json const& object, std::string const& text) {
  if (common.json)
    std::printf("%s\n",
                object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  else
    std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

// Who may watch this machine: as the node that runs knows it, else as the file has it.
Result<std::vector<node::WatcherView>> watchers(Common const& common) {
  auto const running = snapshot_here(common);
  if (running && running->control.served) return running->control.paired;
  WAGGLE_TRY(auto const kept, Contacts::load(paired_file(common)));
  std::vector<node::WatcherView> out;
  for (auto const& c : kept.all())
    out.push_back({.peer_id = node::control::peer_text(c.peer),
                   .name = c.name,
                   .right = std::string(word(c.right)),
                   .since = c.since,
                   .last_seen = {}});
  return out;
}

int list(Common const& common) {
  auto const all = watchers(common);
  if (!all) return fail(common, all.error());
  if (all->empty() && !common.json) std::printf("no machine may watch this one\n");
  for (auto const& w : *all)
    say(common,
        {{"name", w.name}, {"peer_id", w.peer_id}, {"right", w.right}, {"connected", w.connected}},
        cat(w.name, "  ", w.right, w.connected ? ", connected" : "", "  ", w.peer_id));
  return kDone;
}

bool is_called(node::WatcherView const& w, std::string const& wanted) {
  return w.name == wanted || w.peer_id == wanted ||
         (wanted.size() >= 6 && w.peer_id.ends_with(wanted));
}

// Without a node: the file, while nobody else has it.
Status remove_from_file(Common const& common, std::string const& peer_id) {
  WAGGLE_TRY(auto const lock, store::DirectoryLock::take(common.data_dir));
  WAGGLE_TRY(auto kept, Contacts::load(paired_file(common)));
  WAGGLE_TRY(auto const contact, kept.find(peer_id));
  kept.remove(contact.peer);
  return kept.save(paired_file(common));
}

int remove(Common const& common, std::string const& wanted) {
  auto const all = watchers(common);
  if (!all) return fail(common, all.error());
  std::vector<node::WatcherView> found;
  for (auto const& w : *all)
    if (is_called(w, wanted)) found.push_back(w);
  if (found.size() != 1)
    return fail(
        common,
        Error{found.empty() ? Errc::not_found : Errc::invalid,
              found.empty() ? cat("no machine ", wanted, " may watch this one: waggle pair --list")
                            : cat("several machines are called ", wanted, "; give the PeerID")});
  auto const& peer_id = found.front().peer_id;
  auto const sent =
      node::api_post(api_socket(common), {.kind = Command::Kind::unpair, .value = peer_id});
  auto done = sent ? ok() : Status(sent.error());
  if (!sent && sent.error().code == Errc::not_found) done = remove_from_file(common, peer_id);
  if (!done) return fail(common, done.error());
  // The node does it in its own time: soon.
  for (int i = 0; i < kLooksForTheOffer; ++i) {
    auto const now = watchers(common);
    if (now && std::none_of(
                   now->begin(), now->end(), [&](auto const& w) { return w.peer_id == peer_id; })) {
      say(common,
          {{"ok", true}, {"removed", peer_id}},
          cat(found.front().name, " may not watch this machine any more"));
      if (sent) say_what_is_left(*sent);
      return kDone;
    }
    signals::wait(kLookEvery);
  }
  return fail(common, Error{Errc::timeout, "the node did not remove it; see waggle doctor"});
}

// What to type at the other machine. A loopback address only where there is nothing else.
std::string address_to_give(Snapshot const& s) {
  std::string best;
  for (auto const& address : s.addresses)
    if (best.empty() || best.starts_with("/ip4/127.") || best.starts_with("/ip6/::1/"))
      best = address;
  if (best.find("/p2p/") == std::string::npos) best += cat("/p2p/", s.peer_id);
  return best;
}

int offer(Common const& common, Flags const& flags) {
  signals::catch_interrupts();
  auto const before = snapshot_here(common);
  if (!before) return fail(common, before.error());
  if (!before->control.served)
    return fail(common,
                Error{Errc::refused,
                      "the node of this data directory takes no connections (client, monitor), or "
                      "its paired.toml is wrong (waggle status)"});
  SystemRuntime chance;
  std::array<std::byte, node::control::kCodeLetters> random{};
  chance.fill_random(random);
  auto const code = node::control::make_code(random);
  Command open{
      .kind = Command::Kind::pair, .name = flags.control ? "control" : "watch", .value = code};
  if (auto const sent = node::api_post(api_socket(common), open); !sent)
    return fail(common, sent.error());
  std::set<std::string> known;
  for (auto const& w : before->control.paired) known.insert(cat(w.peer_id, w.since));
  bool shown = false;
  for (int look = 0;; ++look) {
    if (signals::count() > 0) {
      (void)node::api_post(api_socket(common), {.kind = Command::Kind::unpair});
      return signals::last_was_term() ? kDone : kInterrupted;
    }
    auto const now = snapshot_here(common);
    if (!now) return fail(common, now.error());
    for (auto const& w : now->control.paired)
      if (!known.contains(cat(w.peer_id, w.since))) {
        say(common,
            {{"event", "paired"}, {"peer_id", w.peer_id}, {"name", w.name}, {"right", w.right}},
            cat(w.name,
                " (",
                w.peer_id,
                ") may now ",
                w.right == "control" ? "watch and control" : "watch",
                " this machine"));
        return kDone;
      }
    if (!shown && now->control.pairing_until > 0) {
      shown = true;
      auto const address = address_to_give(*now);
      auto const letters = node::control::shown_code(code);
      auto const minutes = static_cast<int>((now->control.pairing_until - now->time + 30) / 60);
      say(common,
          {{"event", "code"},
           {"code", letters},
           {"address", address},
           {"right", open.name},
           {"until", now->control.pairing_until}},
          cat("On the machine that is to ",
              flags.control ? "watch and control" : "watch",
              " this one:\n\n  waggle pair ",
              address,
              " ",
              letters,
              "\n\nor in its window: Machines, Add. The code holds for ",
              minutes,
              " minutes, once. Ctrl-C withdraws it."));
    } else if (now->control.pairing_until == 0 && (shown || look > kLooksForTheOffer)) {
      return fail(common, Error{Errc::timeout, "nobody gave the code in time"});
    }
    signals::wait(kLookEvery);
  }
}

int join(Common const& common, Flags const& flags) {
  auto const machines = open_machines(common);
  if (!machines) return fail(common, machines.error());
  std::promise<Result<Contact>> done;
  (*machines)->pair(flags.address, flags.code, flags.name, kPairTime, [&done](Result<Contact> c) {
    done.set_value(std::move(c));
  });
  auto const contact = done.get_future().get();
  if (!contact)
    return fail(common, contact.error(), contact.error().code == Errc::invalid ? kUsage : kFailed);
  say(common,
      {{"ok", true},
       {"name", contact->name},
       {"peer_id", node::control::peer_text(contact->peer)},
       {"right", word(contact->right)}},
      cat("paired with ",
          contact->name,
          "; you may ",
          contact->right == node::control::Right::control ? "watch and control it" : "watch it",
          ":\n  waggle status --on '",
          contact->name,
          "'"));
  return kDone;
}

int run(Common const& common, Flags const& flags) {
  if (flags.list) return list(common);
  if (!flags.remove.empty()) return remove(common, flags.remove);
  if (flags.address.empty()) return offer(common, flags);
  if (flags.code.empty())
    return fail(common, Error{Errc::invalid, "give the code that the machine shows, too"}, kUsage);
  return join(common, flags);
}

}  // namespace

void add_pair(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand(
      "pair", "Let another machine watch this one (shows a code), or watch another one");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command->add_option("address", flags->address, "Of the machine that shows a code: watch it");
  command->add_option("code", flags->code, "The code that it shows");
  command->add_option("--name", flags->name, "What to call it here [what it calls itself]");
  command->add_flag("--control", flags->control, "Let the other one also pause, resume and so on");
  command->add_flag("--list", flags->list, "Who may watch this machine");
  command->add_option("--remove", flags->remove, "Let it watch no more: a name or a PeerID");
  add_examples(*command,
               "  waggle pair                    here: shows a code, for five minutes\n"
               "  waggle pair --control          the same, and who gives it may also steer\n"
               "  waggle pair /ip4/192.168.1.20/tcp/31337/p2p/12D3KooW… k7m2-9xq4\n"
               "  waggle pair 192.168.1.20:31337 k7m2-9xq4 --name server\n"
               "  waggle pair --remove laptop\n");
  command->callback(
      [&common, &chosen, flags] { chosen = [&common, flags] { return run(common, *flags); }; });
}

}  // namespace waggle::app
