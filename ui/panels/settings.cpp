// SPDX-License-Identifier: MIT
#include "ui/panels/settings.hpp"

#include <array>
#include <cmath>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/limits.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/facts.hpp"
#include "ui/widgets/field.hpp"
#include "ui/widgets/toggle.hpp"

namespace waggle::ui {
namespace {

constexpr std::array kSizes{0.8F, 1.0F, 1.25F, 1.5F, 2.0F};
constexpr std::array<char const*, kSizes.size()> kSizeWords{
    "80 %", "100 %", "125 %", "150 %", "200 %"};

constexpr float kSegments = 30;  // units; the height of what stands beside a label
constexpr float kField = 34;
constexpr double kInStep = 0.05;  // seconds; less between two clocks is nobody's concern

void label(Frame const& frame, Text words, float height = kSegments) {
  auto const at = ImGui::GetCursorPos();
  float const column = std::min(frame.px(130), ImGui::GetContentRegionAvail().x * 0.3F);
  ImGui::SetCursorPosY(at.y +
                       std::floor((frame.px(height) - frame.fonts.get(Font::body)->FontSize) / 2));
  text(frame, Font::body, frame.colours().muted, frame.tr(words));
  ImGui::SetCursorPos({at.x + column, at.y});
}

// Each language is named in itself, where its letters can be shown.
std::array<char const*, 2> language_names(Frame const& frame) {
  return {"English", frame.fonts.has_chinese() ? "中文" : "Chinese"};
}

void appearance(Frame& frame, Choices& choices) {
  heading(frame, frame.tr(Text::appearance));
  std::array<char const*, 2> const modes{frame.tr(Text::dark), frame.tr(Text::light)};
  int mode = choices.mode == Mode::dark ? 0 : 1;
  label(frame, Text::theme);
  if (segmented(frame, "mode", modes, mode)) {
    choices.mode = mode == 0 ? Mode::dark : Mode::light;
    frame.set("window.theme", literal(std::string_view(mode == 0 ? "dark" : "light")));
  }
  gap(frame, space::s);
  label(frame, Text::language);
  choose_language(frame, choices);
  gap(frame, space::s);
  int size = 1;
  for (std::size_t i = 0; i < kSizes.size(); ++i)
    if (std::abs(kSizes[i] - choices.size) < 0.01F) size = static_cast<int>(i);
  label(frame, Text::size);
  if (segmented(frame, "size", kSizeWords, size)) {
    choices.size = kSizes.at(static_cast<std::size_t>(size));
    frame.set("window.size", literal(static_cast<double>(choices.size)));
  }
  if (frame.fonts.chinese_missing())
    wrapped(frame, Font::body, frame.colours().warn, frame.tr(Text::loading_fonts_missing));
}

void team(Frame& frame, SettingsState& state) {
  if (frame.setting("team") == nullptr) return;
  heading(frame, frame.tr(Text::team));
  if (field(frame, "team", state.team, text_of(frame.value("team")), frame.tr(Text::team_hint)))
    frame.set("team", literal(std::string_view(state.team)));
  gap(frame, space::xs);
  wrapped(frame, Font::small, frame.colours().muted, frame.tr(Text::team_note));
}

void listening(Frame& frame, SettingsState& state) {
  if (frame.setting("port") == nullptr) return;
  heading(frame, frame.tr(Text::listening));
  label(frame, Text::port, kField);
  if (field(frame, "port", state.port, frame.value("port"), frame.tr(Text::port_any)))
    frame.set("port", state.port);
  gap(frame, space::xs);
  text(frame, Font::small, frame.colours().muted, frame.tr(Text::port_any));
  gap(frame, space::s);
  bool client = flag_of(frame.value("client"));
  if (toggle(frame, "client", frame.tr(Text::only_outwards), client))
    frame.set("client", literal(client));
  gap(frame, space::s);
  // A node from before there was this setting tells nothing of it.
  if (frame.setting("lan") != nullptr) {
    bool lan = flag_of(frame.value("lan"));
    if (toggle(frame, "lan", frame.tr(Text::lan), lan)) frame.set("lan", literal(lan));
    if (!lan && !frame.setting("lan")->why.empty())
      wrapped(frame, Font::small, frame.colours().muted, frame.tr(Text::lan_loopback));
  }
  gap(frame, space::xs);
  wrapped(frame, Font::small, frame.colours().muted, frame.tr(Text::from_next_start));
}

void this_node(Frame const& frame) {
  auto const& s = *frame.snapshot;
  auto const& l = frame.language;
  Card const card(frame, "node");
  heading(frame, frame.tr(Text::this_node, Text::that_machine));
  fact(frame, Text::version, s.version);
  fact(frame, Text::process, cat(s.pid));
  fact(frame, Text::uptime, duration(s.uptime, l));
  fact(frame, Text::peer_id, s.peer_id);
  for (std::size_t i = 0; i < s.addresses.size(); ++i) fact(frame, Text::addresses, s.addresses[i]);
  fact(frame,
       Text::clock_offset,
       std::abs(s.clock_offset) < kInStep
           ? std::string(frame.tr(Text::clock_in_step))
           : fill(Text::clock_offset_value, l, {decimal(s.clock_offset, 2)}));
  fact(frame, Text::dht, fill(Text::dht_value, l, {cat(s.dht_table), cat(s.dht_records)}));
  gap(frame, space::m);
  wrapped(frame,
          Font::small,
          frame.colours().muted,
          frame.tr(frame.own_node ? Text::node_is_own : Text::node_is_remote));
}

}  // namespace

void choose_language(Frame& frame, Choices& choices) {
  auto const names = language_names(frame);
  int language = choices.language == Language::english ? 0 : 1;
  if (!segmented(frame, "language", names, language)) return;
  choices.language = language == 0 ? Language::english : Language::chinese;
  frame.set("window.language", literal(std::string_view(language == 0 ? "en" : "zh")));
}

float language_width(Frame const& frame) {
  return segmented_width(frame, language_names(frame));
}

void draw_settings(Frame& frame, Choices& choices, SettingsState& state) {
  {
    Columns cards(frame, "settings", 480, 2);
    cards.card("look", [&] { appearance(frame, choices); });
    // A node from before there were settings tells none.
    if (!frame.settings.empty() && frame.may_steer())
      cards.card("rest", [&] {
        team(frame, state);
        gap(frame, space::l);
        listening(frame, state);
        if (frame.setting("update_notice") == nullptr) return;
        gap(frame, space::l);
        limit_update_notice(frame);
      });
  }
  if (frame.snapshot != nullptr) this_node(frame);
}

}  // namespace waggle::ui
