// SPDX-License-Identifier: MIT
#include "app/switch_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/node/control/naming.hpp"

#include "ui/task_words.hpp"

namespace waggle::app {
namespace {

using node::control::LinkState;
using node::control::Machines;
using node::control::MachineState;
using Kind = node::Command::Kind;

constexpr Duration kAnswerTime = std::chrono::seconds(15);
constexpr Duration kPairTime = std::chrono::seconds(40);
constexpr double kListEvery = 1;      // seconds; ages and states are told to the second at most
constexpr double kOfferPatience = 5;  // until the node shows that it has opened

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ui::Machine::State state_of(LinkState state) {
  switch (state) {
    case LinkState::connecting:
      return ui::Machine::State::connecting;
    case LinkState::watching:
      return ui::Machine::State::watching;
    case LinkState::lost:
      return ui::Machine::State::lost;
    case LinkState::refused:
      return ui::Machine::State::refused;
  }
  return ui::Machine::State::connecting;
}

ui::Machine row_of(MachineState const& m) {
  ui::Machine machine;
  machine.id = m.peer_id;
  machine.name = m.name;
  machine.state = state_of(m.state);
  machine.since = m.since;
  machine.why = m.why;
  machine.may_control = m.right == node::control::Right::control;
  if (m.snapshot && m.state == LinkState::watching) ui::tell_task(machine, *m.snapshot);
  return machine;
}

// What to type at the other machine. A loopback address only where there is nothing else.
std::string address_to_give(node::Snapshot const& s) {
  std::string best;
  for (auto const& address : s.addresses)
    if (best.empty() || best.starts_with("/ip4/127.") || best.starts_with("/ip6/::1/"))
      best = address;
  if (!best.empty() && best.find("/p2p/") == std::string::npos) best += cat("/p2p/", s.peer_id);
  return best;
}

}  // namespace

SwitchSource::SwitchSource(Common const& common, ui::Source& here) : here_(here) {
  Machines::Options options;
  options.data_dir = common.data_dir;
  options.version = WAGGLE_VERSION;
  auto opened = Machines::open(std::move(options));
  if (!opened) {
    broken_ = opened.error().detail;
    return;
  }
  others_ = *std::move(opened);
  others_->on_change([heard = heard_] {
    std::lock_guard const lock(heard->mutex);
    heard->changed = true;
  });
}

SwitchSource::~SwitchSource() = default;

std::vector<MachineState> SwitchSource::watched() const {
  return others_ ? others_->list() : std::vector<MachineState>{};
}

std::optional<MachineState> SwitchSource::chosen_machine() const {
  if (chosen_.empty()) return std::nullopt;
  for (auto& m : watched())
    if (m.peer_id == chosen_) return m;
  return std::nullopt;
}

std::shared_ptr<node::Snapshot const> SwitchSource::snapshot() {
  if (chosen_.empty()) return here_.snapshot();
  auto const machine = chosen_machine();
  return machine ? machine->snapshot : nullptr;
}

void SwitchSource::say(std::string trouble) {
  std::lock_guard const lock(heard_->mutex);
  heard_->trouble = std::move(trouble);
}

void SwitchSource::send(node::Command command) {
  if (chosen_.empty()) return here_.send(std::move(command));
  auto const machine = chosen_machine();
  if (!machine) return;
  auto const contact = others_->find(machine->peer_id);
  if (!contact) return;
  others_->give(contact->peer,
                std::move(command),
                kAnswerTime,
                [heard = heard_, name = machine->name](Status done) {
                  if (done) return;
                  std::lock_guard const lock(heard->mutex);
                  heard->trouble = cat(name, ": ", done.error().detail);
                });
}

std::shared_ptr<node::Examples const> SwitchSource::examples(bool wanted) {
  // Pictures do not travel over the control stream.
  if (chosen_.empty()) return here_.examples(wanted);
  (void)here_.examples(false);
  return nullptr;
}

std::shared_ptr<std::vector<node::SettingView> const> SwitchSource::settings() {
  return here_.settings();
}

void SwitchSource::keep(std::string name, std::string value) {
  here_.keep(std::move(name), std::move(value));
}

std::optional<std::string> SwitchSource::take_trouble() {
  {
    std::lock_guard const lock(heard_->mutex);
    if (heard_->trouble) return std::exchange(heard_->trouble, std::nullopt);
  }
  return here_.take_trouble();
}

void SwitchSource::join(std::string link) {
  if (chosen_.empty()) return here_.join(std::move(link));
  send({.kind = Kind::join, .link = std::move(link)});
}

bool SwitchSource::can_join() const {
  if (chosen_.empty()) return here_.can_join();
  auto const machine = chosen_machine();
  return machine && machine->state == LinkState::watching &&
         machine->right == node::control::Right::control;
}

bool SwitchSource::own_node() const {
  return chosen_.empty() && here_.own_node();
}

std::shared_ptr<ui::Machines const> SwitchSource::machines() {
  double const now = unix_now();
  bool changed = false;
  {
    std::lock_guard const lock(heard_->mutex);
    changed = std::exchange(heard_->changed, false);
    if (heard_->added) chosen_ = *std::exchange(heard_->added, std::nullopt);
  }
  if (list_ && !changed && now - list_at_ < kListEvery && list_->chosen == chosen_) return list_;
  auto const local = here_.snapshot();
  auto next = std::make_shared<ui::Machines>();
  ui::Machine here;
  here.name = node::control::host_name();
  here.state = local ? ui::Machine::State::here : ui::Machine::State::idle;
  if (local) {
    ui::tell_task(here, *local);
    next->here = local->control;
    next->address = address_to_give(*local);
  }
  next->all.push_back(std::move(here));
  for (auto const& m : watched()) next->all.push_back(row_of(m));
  bool const known = std::any_of(
      next->all.begin(), next->all.end(), [&](auto const& m) { return m.id == chosen_; });
  if (!known) chosen_.clear();
  // Used, withdrawn or too old.
  if (!code_.empty() && next->here.pairing_until == 0 && now - code_since_ > kOfferPatience)
    code_.clear();
  next->code = next->here.pairing_until > 0 ? code_ : std::string();
  next->chosen = chosen_;
  next->now = now;
  {
    std::lock_guard const lock(heard_->mutex);
    next->pairing = heard_->pairing;
    next->trouble = broken_.empty() ? heard_->pairing_trouble : broken_;
  }
  list_ = std::move(next);
  list_at_ = now;
  return list_;
}

void SwitchSource::show_code(bool control) {
  SystemRuntime chance;
  std::array<std::byte, node::control::kCodeLetters> random{};
  chance.fill_random(random);
  auto const code = node::control::make_code(random);
  code_ = node::control::shown_code(code);
  code_since_ = unix_now();
  here_.send({.kind = Kind::pair, .name = control ? "control" : "watch", .value = code});
}

void SwitchSource::ask(ui::MachineRequest request) {
  using Asked = ui::MachineRequest::Kind;
  list_.reset();
  switch (request.kind) {
    case Asked::choose:
      chosen_ = std::move(request.id);
      return;
    case Asked::show_code:
      return show_code(request.control);
    case Asked::hide_code:
      code_.clear();
      return here_.send({.kind = Kind::unpair});
    case Asked::unpair:
      return here_.send({.kind = Kind::unpair, .value = std::move(request.id)});
    case Asked::forget: {
      if (!others_) return;
      auto const contact = others_->find(request.id);
      if (!contact) return;
      if (chosen_ == request.id) chosen_.clear();
      return others_->forget(contact->peer, [](Status) {});
    }
    case Asked::add:
      break;
  }
  if (!others_) return;
  {
    std::lock_guard const lock(heard_->mutex);
    heard_->pairing = true;
    heard_->pairing_trouble.clear();
  }
  others_->pair(std::move(request.address),
                std::move(request.code),
                {},
                kPairTime,
                [heard = heard_](Result<node::control::Contact> done) {
                  std::lock_guard const lock(heard->mutex);
                  heard->pairing = false;
                  heard->changed = true;
                  if (done)
                    heard->added = node::control::peer_text(done->peer);
                  else
                    heard->pairing_trouble = done.error().detail;
                });
}

}  // namespace waggle::app
