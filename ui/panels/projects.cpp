// SPDX-License-Identifier: MIT
#include "ui/panels/projects.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/empty.hpp"
#include "ui/task_words.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/facts.hpp"
#include "ui/widgets/picture.hpp"
#include "ui/widgets/pill.hpp"
#include "ui/widgets/progress.hpp"

namespace waggle::ui {
namespace {

using node::Command;

constexpr double kCopiedFor = 2;     // seconds that the button says so
constexpr double kBrowseEach = 300;  // seconds; a node browses for ten minutes each time
constexpr std::size_t kSamplesShown = 6;

std::string name_of(std::string const& operator_id, std::string const& prefix) {
  return cat(operator_id, "/", prefix);
}

// A title, and a pill at the right end of its line.
void title(Frame const& frame, std::string_view words, std::string_view state, Colour colour) {
  auto const begin = ImGui::GetCursorScreenPos();
  float const room = ImGui::GetContentRegionAvail().x;
  float const width = pill_size(frame, state).x;
  draw_text(frame,
            *ImGui::GetWindowDrawList(),
            Font::title,
            begin,
            frame.colours().text,
            fitted(frame, Font::title, words, room - width - frame.px(space::m)));
  ImGui::SetCursorScreenPos({begin.x + room - width, begin.y});
  pill(frame, state, colour);
  ImGui::SetCursorScreenPos({begin.x, begin.y + frame.fonts.get(Font::title)->FontSize});
  gap(frame, space::s);
}

// What somebody must know before joining.
void about(Frame const& frame, node::KnownTaskView const& k) {
  auto const& l = frame.language;
  if (!k.description.empty()) {
    auto words = std::string_view(k.description);
    while (!words.empty() && (words.front() == '\n' || words.front() == ' '))
      words.remove_prefix(1);
    wrapped(frame, Font::body, frame.colours().text, words);
    gap(frame, space::m);
  }
  fact(frame, Text::operator_key, readable_key(k.operator_id));
  fact(frame, Text::prefix, k.prefix);
  if (!k.model.empty())
    fact(frame,
         Text::about_model,
         fill(Text::about_parameters, l, {k.model, count(static_cast<double>(k.parameters), l)}));
  fact(frame, Text::data_licence, k.licence);
  fact(frame,
       Text::to_download,
       k.download == 0 ? std::string(frame.tr(Text::nothing_to_download))
                       : bytes(static_cast<double>(k.download)));
  auto const disk = bytes(static_cast<double>(k.disk_needed));
  fact(frame,
       Text::it_needs,
       k.memory_needed == 0 ? fill(Text::needs_disk, l, {disk})
                            : fill(Text::needs_memory_disk,
                                   l,
                                   {binary_bytes(static_cast<double>(k.memory_needed)), disk}));
}

node::KnownTaskView const* card_of(Frame const& frame, node::TaskView const& t) {
  for (auto const& k : frame.snapshot->known_tasks)
    if (k.prefix == t.prefix && k.operator_id == t.operator_id && k.joined) return &k;
  return nullptr;
}

void samples(Frame& frame, node::TaskView const& t) {
  frame.wants_examples = true;
  auto const* const examples = frame.examples;
  if (examples == nullptr || examples->prefix != t.prefix || examples->operator_id != t.operator_id)
    return;
  float const size = frame.px(56);
  std::size_t shown = 0;
  for (auto const& item : examples->items) {
    if (item.pixels.empty() || shown == kSamplesShown) continue;
    if (shown > 0) {
      ImGui::SameLine(0, frame.px(space::s));
      if (ImGui::GetContentRegionAvail().x < size) {
        ImGui::NewLine();
        break;
      }
    }
    picture(frame, item, size);
    ++shown;
  }
  if (shown > 0) gap(frame, space::m);
}

std::string preview_label(node::Preview const& preview, std::int64_t label) {
  if (label < 0) return {};
  auto const at = static_cast<std::size_t>(label);
  return at < preview.labels.size() ? preview.labels[at] : cat(label);
}

// A few samples of the data as its operator shows them, before anything is downloaded.
void preview(Frame& frame, std::string const& operator_id, std::string const& prefix) {
  frame.wants_examples = true;
  if (frame.examples == nullptr) return;
  auto const& all = frame.examples->previews;
  auto const at = std::ranges::find_if(all, [&](node::Preview const& p) {
    return p.operator_id == operator_id && p.prefix == prefix;
  });
  if (at == all.end() || at->items.empty()) return;
  auto const& c = frame.colours();
  float const size = frame.px(64);
  float const cell = frame.px(88);
  float const begin = ImGui::GetCursorPosX();
  auto const columns = std::max(1, static_cast<int>(ImGui::GetContentRegionAvail().x / cell));
  text(frame, Font::small, c.muted, frame.tr(Text::preview_title));
  gap(frame, space::xs);
  int shown = 0;
  for (auto const& item : at->items) {
    if (item.pixels.empty()) {
      if (item.text.empty()) continue;
      wrapped(frame, Font::body, c.text, cat("…", printable(item.text), "…"));
      gap(frame, space::s);
      continue;
    }
    if (shown % columns != 0)
      ImGui::SameLine(begin + cell * static_cast<float>(shown % columns), 0);
    else if (shown > 0)
      gap(frame, space::s);
    ImGui::BeginGroup();
    picture(frame, item, size);
    text(frame,
         Font::small,
         c.muted,
         fitted(frame, Font::small, preview_label(*at, item.label), cell - frame.px(space::s)));
    ImGui::EndGroup();
    ++shown;
  }
  gap(frame, space::m);
}

// Chosen already: it waits until the one that trains has finished its epoch.
bool is_next(node::TaskView const& t) {
  return values_in(t.reason, tr(Text::said_next, Language::english)).has_value();
}

// How far the task that trains now is from making way.
void next_in_line(Frame const& frame, node::TaskView const& t) {
  auto const* const now = frame.task();
  if (now == nullptr || now == &t || now->target_batch_size == 0) return;
  if (!is_next(t)) return;
  double const share = std::min(
      1.0, static_cast<double>(now->swarm_samples) / static_cast<double>(now->target_batch_size));
  gap(frame, space::s);
  bar(frame, share, share, frame.px(8));
  if (now->eta >= 1 && now->eta < 86'400)
    text(frame,
         Font::small,
         frame.colours().muted,
         fill(Text::time_left_short, frame.language, {duration(now->eta, frame.language)}));
}

void operators(Frame& frame, std::string const& prefix, std::vector<std::string> const& choices) {
  wrapped(frame, Font::body, frame.colours().text, frame.tr(Text::link_choice));
  gap(frame, space::s);
  for (auto const& id : choices) {
    ImGui::PushID(id.c_str());
    wrapped(frame, Font::body, frame.colours().text, readable_key(id));
    gap(frame, space::xs);
    if (frame.may_steer() && button(frame, "choose", frame.tr(Text::choose_operator)))
      frame.commands.push_back(
          {.kind = Command::Kind::look, .link = cat("waggle:", prefix, "?op=", id)});
    gap(frame, space::s);
    ImGui::PopID();
  }
}

void leave_buttons(Frame& frame, std::string const& name, ProjectsState& state) {
  if (!frame.may_steer()) return;
  if (state.leaving != name) {
    if (button(frame,
               "leave",
               frame.tr(Text::leave),
               ButtonKind::quiet,
               Icon::none,
               frame.tr(Text::leave_hint)))
      state.leaving = name;
    return;
  }
  if (button(frame, "sure", frame.tr(Text::leave_sure))) {
    frame.commands.push_back({.kind = Command::Kind::leave, .prefix = name});
    state.leaving.clear();
  }
  ImGui::SameLine(0, frame.px(space::s));
  // The keyboard stays where it was: a second press too many leaves nothing.
  if (button(frame, "leave", frame.tr(Text::stay))) state.leaving.clear();
  wrapped(frame, Font::small, frame.colours().warn, frame.tr(Text::leave_text));
}

void task_buttons(Frame& frame, node::TaskView const& t, ProjectsState& state) {
  bool const idle = t.state == "waiting" || t.state == "done" || t.state == "failed";
  auto const name = name_of(t.operator_id, t.prefix);
  if (idle && !is_next(t) && !t.operator_id.empty() && frame.may_steer()) {
    if (button(frame,
               "train",
               frame.tr(Text::train_this),
               ButtonKind::primary,
               Icon::play,
               frame.tr(Text::train_this_hint)))
      frame.commands.push_back({.kind = Command::Kind::resume, .prefix = name});
    ImGui::SameLine(0, frame.px(space::s));
  }
  if (!t.link.empty()) {
    bool const copied = state.copied == name && ImGui::GetTime() < state.copied_until;
    if (button(frame,
               "copy",
               frame.tr(copied ? Text::copied : Text::copy_link),
               ButtonKind::quiet,
               copied ? Icon::check : Icon::copy)) {
      ImGui::SetClipboardText(t.link.c_str());
      state.copied = name;
      state.copied_until = ImGui::GetTime() + kCopiedFor;
    }
    if (frame.may_steer()) ImGui::SameLine(0, frame.px(space::s));
  }
  leave_buttons(frame, t.operator_id.empty() ? t.prefix : name, state);
}

void task_card(Frame& frame, node::TaskView const& t, ProjectsState& state) {
  auto const& c = frame.colours();
  Card const card(frame, cat("task/", t.operator_id, "/", t.prefix).c_str());
  title(frame,
        t.title.empty() ? t.prefix : t.title,
        state_words(condition_of(t), frame.language),
        state_colour(c, condition_of(t)));
  if (t.state == "choice") {
    operators(frame, t.prefix, t.choices);
    leave_buttons(frame, t.prefix, state);
    return;
  }
  if (t.samples_given > 0)
    text(frame,
         Font::body,
         c.muted,
         fill(Text::project_joined,
              frame.language,
              {count(static_cast<double>(t.samples_given), frame.language)}));
  if (!t.reason.empty())
    wrapped(frame,
            Font::body,
            condition_of(t) == "failed" ? c.bad
            : is_next(t)                ? c.muted
                                        : c.warn,
            reason_of(t, frame.language));
  next_in_line(frame, t);
  if (t.state == "fetching" && t.fetch_total > 0) {
    gap(frame, space::s);
    double const share = static_cast<double>(t.fetch_done) / static_cast<double>(t.fetch_total);
    bar(frame, share, share, frame.px(8));
    text(frame,
         Font::small,
         c.muted,
         fill(Text::fetched_of,
              frame.language,
              {bytes(static_cast<double>(t.fetch_done)),
               bytes(static_cast<double>(t.fetch_total))}));
  }
  gap(frame, space::m);
  if (auto const* const known = card_of(frame, t)) {
    if (&t == frame.task())
      samples(frame, t);
    else
      preview(frame, t.operator_id, t.prefix);
    about(frame, *known);
  } else {
    fact(frame, Text::prefix, t.prefix);
    if (!t.operator_id.empty()) fact(frame, Text::operator_key, readable_key(t.operator_id));
  }
  gap(frame, space::m);
  task_buttons(frame, t, state);
}

Text source_text(std::string_view source) {
  if (source == "directory") return Text::from_directory;
  return source == "lan" ? Text::from_lan : Text::from_link;
}

void known_card(Frame& frame, node::KnownTaskView const& k) {
  auto const& c = frame.colours();
  Card const card(frame, cat("known/", k.operator_id, "/", k.prefix).c_str());
  bool const failed = k.state == "failed";
  title(frame,
        k.title.empty() ? k.prefix : k.title,
        failed ? frame.tr(Text::link_failed) : frame.tr(source_text(k.source)),
        failed ? c.bad : c.swarm);
  auto const dismiss = [&] {
    if (k.source == "link" && frame.may_steer() &&
        button(frame, "dismiss", frame.tr(Text::dismiss)))
      frame.commands.push_back(
          {.kind = Command::Kind::leave,
           .prefix = k.operator_id.empty() ? k.prefix : name_of(k.operator_id, k.prefix)});
  };
  if (k.state == "choice") {
    operators(frame, k.prefix, k.choices);
    return dismiss();
  }
  if (k.state != "found") {
    wrapped(frame,
            Font::body,
            failed ? c.bad : c.muted,
            failed ? sentence(translated(k.reason, frame.language))
                   : std::string(frame.tr(Text::link_looking)));
    gap(frame, space::m);
    return dismiss();
  }
  preview(frame, k.operator_id, k.prefix);
  about(frame, k);
  gap(frame, space::s);
  wrapped(frame,
          Font::body,
          k.fits ? c.good : c.warn,
          k.fits ? std::string(frame.tr(Text::machine_fits, Text::that_machine_fits))
                 : fill(frame.tr(Text::machine_lacks, Text::that_machine_lacks),
                        {translated(k.missing, frame.language)}));
  if (!frame.may_steer()) return;
  gap(frame, space::m);
  if (button(frame, "join", frame.tr(Text::join), ButtonKind::primary, Icon::play))
    frame.commands.push_back({.kind = Command::Kind::join, .link = k.link});
  if (k.source == "link") ImGui::SameLine(0, frame.px(space::s));
  dismiss();
}

bool is_link(std::string_view text) {
  constexpr std::string_view kScheme = "waggle:";
  return text.starts_with(kScheme) && text.size() > kScheme.size();
}

void paste(Frame& frame, ProjectsState& state) {
  auto const& c = frame.colours();
  Card const card(frame, "paste");
  text(frame, Font::title, c.text, frame.tr(Text::join_title));
  gap(frame, space::xs);
  wrapped(frame, Font::body, c.muted, frame.tr(Text::join_text));
  wrapped(frame, Font::body, c.muted, frame.tr(Text::link_text));
  gap(frame, space::m);
  float const side = button_width(frame, frame.tr(Text::look));
  float const room = ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(frame.fonts.get(Font::body));
  auto const line = frame.fonts.get(Font::body)->FontSize;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(frame.px(space::m), (frame.px(38) - line) / 2));
  ImGui::SetNextItemWidth(room - side - frame.px(space::s));
  tab_stop(frame);
  bool const entered = ImGui::InputTextWithHint("##link",
                                                frame.tr(Text::join_hint),
                                                state.link.data(),
                                                state.link.size(),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  tab_stopped(frame, "link");
  frame.fonts.see(state.link.data());
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ImGui::SameLine(0, frame.px(space::s));
  if (button(frame, "look", frame.tr(Text::look), ButtonKind::primary) || entered) {
    std::string_view link(state.link.data());
    while (!link.empty() && (link.front() == ' ' || link.front() == '\n')) link.remove_prefix(1);
    while (!link.empty() && (link.back() == ' ' || link.back() == '\n')) link.remove_suffix(1);
    state.wrong = !is_link(link);
    if (!state.wrong) {
      frame.commands.push_back({.kind = Command::Kind::look, .link = std::string(link)});
      state.link.fill('\0');
    }
  }
  if (state.wrong) text(frame, Font::body, c.bad, frame.tr(Text::link_is_wrong));
}

void browse(Frame& frame, ProjectsState& state) {
  if (!frame.may_steer()) return;
  double const now = ImGui::GetTime();
  if (state.browse_at >= 0 && now < state.browse_at) return;
  state.browse_at = now + kBrowseEach;
  frame.commands.push_back({.kind = Command::Kind::browse});
}

}  // namespace

void draw_projects(Frame& frame, ProjectsState& state) {
  if (frame.snapshot == nullptr) {
    draw_empty(frame);
    return;
  }
  browse(frame, state);
  auto const& known = frame.snapshot->known_tasks;
  // A link that somebody just gave is what they want to see.
  for (auto const& k : known)
    if (!k.joined && k.source == "link") {
      known_card(frame, k);
      gap(frame, space::m);
    }
  for (auto const& t : frame.snapshot->tasks) {
    task_card(frame, t, state);
    gap(frame, space::m);
  }
  if (frame.may_steer()) {
    paste(frame, state);
    gap(frame, space::l);
  }
  heading(frame, frame.tr(Text::found_projects));
  bool any = false;
  for (auto const& k : known)
    if (!k.joined && k.source != "link") {
      known_card(frame, k);
      gap(frame, space::m);
      any = true;
    }
  if (!any) wrapped(frame, Font::body, frame.colours().muted, frame.tr(Text::found_none));
}

}  // namespace waggle::ui
