// SPDX-License-Identifier: MIT
#include "ui/task_words.hpp"

#include <charconv>

#include "core/base/text.hpp"

#include "ui/format.hpp"

namespace waggle::ui {
namespace {

// A node tells bytes one by one; nothing where it says something else.
std::optional<std::string> size_of(std::string_view digits) {
  std::uint64_t value = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [at, wrong] = std::from_chars(digits.data(), end, value);
  if (wrong != std::errc() || at != end) return std::nullopt;
  return bytes(static_cast<double>(value));
}

std::optional<std::string> disk_words(std::string_view reason, Language language) {
  auto const values = values_in(reason, tr(Text::said_disk_full, Language::english));
  if (!values) return std::nullopt;
  auto const needed = size_of(values->at(1));
  auto const free = size_of(values->at(2));
  if (!needed || !free) return std::nullopt;
  return fill(Text::disk_full, language, {*needed, *free, values->at(0)});
}

// Nothing trains yet, and a person does not want it to.
bool paused_on_the_way(node::TaskView const& task) {
  return task.paused_by == "you" && (task.state == "fetching" || task.state == "starting");
}

}  // namespace

std::string_view condition_of(node::TaskView const& task) {
  if (task.state == "failed" && values_in(task.reason, tr(Text::said_ended, Language::english)))
    return "ended";
  if (task.state != "paused") return task.state;
  if (task.paused_by == "guest") return "resting";
  if (task.paused_by == "disk") return "full";
  return task.paused_by == "crash" ? std::string_view("failed") : task.state;
}

std::string reason_of(node::TaskView const& task, Language language) {
  if (auto disk = disk_words(task.reason, language)) return *std::move(disk);
  return sentence(translated(task.reason, language));
}

std::optional<Text> outlook_of(node::TaskView const& task) {
  if (task.state == "finishing") return Text::finish_hint;
  if (task.state == "failed") return Text::until_left;
  if (task.state == "choice") return Text::until_chosen;
  if (paused_on_the_way(task)) return Text::until_resume;
  if (task.state != "paused") return std::nullopt;
  if (task.paused_by == "guest") return Text::until_over;
  if (task.paused_by == "disk") return Text::until_room;
  if (task.paused_by == "crash") return Text::until_retried;
  // A node from before there was `paused_by` tells it by the reason.
  if (phase_text(task.reason) == Text::paused_by_you) return Text::until_resume;
  return std::nullopt;
}

bool waits_for_person(node::TaskView const& task) {
  auto const outlook = outlook_of(task);
  return outlook == Text::until_resume || outlook == Text::until_retried;
}

Offers offers_of(node::TaskView const& task) {
  // What is still looked for, or to be chosen, takes no commands; without the data there is no
  // epoch to finish.
  if (paused_on_the_way(task)) return {.run = Text::resume};
  if (task.state == "fetching") return {.run = {}, .pause = true};
  if (task.state == "starting" || task.state == "training")
    return {.run = {}, .pause = true, .finish = true};
  if (task.state != "paused") return {};
  bool const fetched = task.fetch_done >= task.fetch_total;
  // A full disk is nothing that Resume could end.
  if (task.paused_by == "disk") return {.run = {}, .pause = true, .finish = fetched};
  if (task.paused_by == "guest") return {.run = Text::run_anyway, .pause = true, .finish = true};
  return {.run = Text::resume, .finish = fetched};
}

bool is_about(std::string_view entry, std::string_view id) {
  constexpr std::string_view kEllipsis = "…";
  auto who = entry.substr(0, entry.find(':'));
  if (who.starts_with(kEllipsis)) who.remove_prefix(kEllipsis.size());
  return !who.empty() && id.ends_with(who);
}

std::string named(std::string_view entry,
                  node::Snapshot const& snapshot,
                  node::TaskView const& task) {
  auto const colon = entry.find(": ");
  if (colon == std::string_view::npos) return std::string(entry);
  for (auto const& peer : snapshot.peers)
    if (is_about(entry, peer.id)) return cat(short_id(peer.id), entry.substr(colon));
  for (auto const& volunteer : task.volunteers)
    if (is_about(entry, volunteer.id)) return cat(short_id(volunteer.id), entry.substr(colon));
  return std::string(entry);
}

void tell_task(Machine& machine, node::Snapshot const& snapshot) {
  if (snapshot.tasks.empty()) return;
  auto const& task = snapshot.tasks.front();
  machine.task = task.title.empty() ? task.prefix : task.title;
  machine.task_state = condition_of(task);
}

}  // namespace waggle::ui
