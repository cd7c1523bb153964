// SPDX-License-Identifier: MIT
#include "ui/pace.hpp"

#include <algorithm>
#include <string_view>

namespace waggle::ui {
namespace {

// Equal but for what the digits say.
bool same_words(std::string_view a, std::string_view b) {
  auto const digit = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; };
  std::size_t i = 0;
  std::size_t k = 0;
  for (;;) {
    while (i < a.size() && digit(a[i])) ++i;
    while (k < b.size() && digit(b[k])) ++k;
    if (i == a.size() || k == b.size()) return i == a.size() && k == b.size();
    if (a[i++] != b[k++]) return false;
  }
}

bool same_task(node::TaskView const& a, node::TaskView const& b) {
  return a.operator_id == b.operator_id && a.prefix == b.prefix && a.title == b.title &&
         a.state == b.state && a.phase == b.phase && a.paused_by == b.paused_by &&
         a.epoch == b.epoch && a.choices == b.choices && a.ignored_peers == b.ignored_peers &&
         a.fetch_total == b.fetch_total && same_words(a.reason, b.reason);
}

bool same_figures(node::TaskView const& a, node::TaskView const& b) {
  return a.samples_this_epoch == b.samples_this_epoch && a.samples_given == b.samples_given &&
         a.samples_per_second == b.samples_per_second && a.swarm_samples == b.swarm_samples &&
         a.swarm_samples_per_second == b.swarm_samples_per_second &&
         a.swarm_epoch == b.swarm_epoch && a.swarm_peers == b.swarm_peers &&
         a.fetch_done == b.fetch_done && a.test_loss == b.test_loss &&
         a.test_accuracy == b.test_accuracy && a.loss == b.loss && a.reason == b.reason;
}

bool same_known(node::KnownTaskView const& a, node::KnownTaskView const& b) {
  return a.operator_id == b.operator_id && a.prefix == b.prefix && a.source == b.source &&
         a.state == b.state && a.title == b.title && a.description == b.description &&
         a.choices == b.choices && a.download == b.download && a.fits == b.fits &&
         a.missing == b.missing && a.joined == b.joined && same_words(a.reason, b.reason);
}

bool same_setting(node::SettingView const& a, node::SettingView const& b) {
  return a.name == b.name && a.value == b.value && a.from == b.from;
}

bool same_watcher(node::WatcherView const& a, node::WatcherView const& b) {
  return a.peer_id == b.peer_id && a.name == b.name && a.right == b.right &&
         a.connected == b.connected;
}

bool same_control(node::ControlView const& a, node::ControlView const& b) {
  return a.served == b.served && a.pairing_until == b.pairing_until &&
         a.pairing_tries == b.pairing_tries && std::ranges::equal(a.paired, b.paired, same_watcher);
}

bool same_guest(node::GuestView const& a, node::GuestView const& b) {
  return a.resting == b.resting && a.overridden == b.overridden && a.followed == b.followed &&
         a.power == b.power && a.threads == b.threads && a.duty == b.duty && a.on_gpu == b.on_gpu &&
         same_words(a.reason, b.reason) && std::ranges::equal(a.causes, b.causes, same_words);
}

bool same_peer(node::PeerView const& a, node::PeerView const& b) {
  return a.id == b.id;
}

bool same_machine(Machine const& a, Machine const& b) {
  return a.id == b.id && a.name == b.name && a.state == b.state && a.since == b.since &&
         a.why == b.why && a.may_control == b.may_control && a.task == b.task &&
         a.task_state == b.task_state;
}

}  // namespace

Change change(node::Snapshot const& a, node::Snapshot const& b) {
  bool const story = a.pid == b.pid && a.addresses == b.addresses && a.notices == b.notices &&
                     a.machine.on_battery == b.machine.on_battery &&
                     a.machine.metered == b.machine.metered && same_guest(a.guest, b.guest) &&
                     same_control(a.control, b.control) &&
                     std::ranges::equal(a.peers, b.peers, same_peer) &&
                     std::ranges::equal(a.tasks, b.tasks, same_task) &&
                     std::ranges::equal(a.known_tasks, b.known_tasks, same_known) &&
                     std::ranges::equal(a.settings, b.settings, same_setting);
  if (!story) return Change::story;
  bool const figures = std::ranges::equal(a.tasks, b.tasks, same_figures) &&
                       a.all_time.samples == b.all_time.samples &&
                       a.guest.reason == b.guest.reason && a.guest.causes == b.guest.causes &&
                       a.machine.battery_percent == b.machine.battery_percent;
  if (!figures) return Change::figures;
  return a.time == b.time ? Change::none : Change::ambient;
}

Change change(Machines const& a, Machines const& b) {
  bool const story = a.chosen == b.chosen && a.pairing == b.pairing && a.trouble == b.trouble &&
                     a.code == b.code && a.address == b.address &&
                     std::ranges::equal(a.all, b.all, same_machine) && same_control(a.here, b.here);
  if (!story) return Change::story;
  if (a.now == b.now) return Change::none;
  return b.here.pairing_until > 0 ? Change::figures : Change::ambient;
}

void Pace::laid_out(double now) {
  laid_out_ = now;
  blinked_ = blinks(now);
  news_ = Change::none;
}

bool Pace::due(double now, bool typing) const {
  double const since = now - laid_out_;
  if (news_ == Change::story) return true;
  // A cursor that stopped to blink stands there, so one more frame shows it.
  if (typing && (blinks(now) || blinked_)) return since >= kLook;
  if (lively(now)) return news_ != Change::none || since >= kLook;
  if (news_ == Change::figures) return since >= (focused_ ? kWatched : kUnwatched);
  return news_ == Change::ambient && since >= kAmbient;
}

double Pace::sleep(double now, bool typing) const {
  if (lively(now) || (typing && (blinks(now) || blinked_))) return kLook;
  return focused_ ? kFocusLook : kCalmLook;
}

}  // namespace waggle::ui
