// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

#include "core/node/commands.hpp"
#include "core/node/examples.hpp"
#include "core/node/snapshot.hpp"

#include "ui/fonts.hpp"
#include "ui/history.hpp"
#include "ui/machine.hpp"
#include "ui/text.hpp"
#include "ui/theme.hpp"
#include "ui/values.hpp"

namespace waggle::ui {

/// The order in which Tab goes through what can be pressed or typed into, as it is drawn; ImGui
/// 1.86 stops at text fields only.
struct TabOrder {
  int count = 0;      ///< stops of this frame so far; between frames those of the last one
  int rail = 0;       ///< how many of them stand in the navigation
  bool fresh = true;  ///< a panel was just opened: Tab begins with its first one
  int current = -1;   ///< the one that has the keyboard; -1: none
  std::string name;   ///< what the code calls `current`: "run", "power/0"; empty: none
  int wanted = -1;    ///< the one that shall have it; -1: none
  int patience = 0;   ///< frames until a wanted one is given up
  float y = 0;        ///< where the wanted one stands, in pixels of the display
};

/// What a panel may know, and what it may ask for, during one frame. A panel is a function of this
/// and of its own small state; it takes no lock, starts no work and keeps no pointer past the
/// frame.
struct Frame {
  node::Snapshot const* snapshot = nullptr;  ///< null: no node answers
  History const& history;
  Fonts const& fonts;
  Theme theme;
  Language language = Language::english;
  bool own_node = false;  ///< the node runs in this process
  bool can_join = false;  ///< a link may be joined from here

  Machines const* machines = nullptr;  ///< null: no other machines can be watched from here

  node::Examples const* examples = nullptr;          ///< the newest; null: none
  bool wants_examples = false;                       ///< this frame shows them
  std::span<node::SettingView const> settings = {};  ///< of the node shown, else of waggle.toml
  Edits* edits = nullptr;  ///< what was just changed; null: nothing can be

  TabOrder* tab = nullptr;  ///< null: Tab does nothing

  std::vector<node::Command> commands;           ///< to be sent after the frame
  std::vector<MachineRequest> machine_requests;  ///< likewise
  std::string join;                              ///< a link to join after the frame
  bool to_projects = false;                      ///< go to Projects after the frame

  [[nodiscard]] char const* tr(Text key) const { return ui::tr(key, language); }

  /// The words for this machine, or those for another one that is shown.
  [[nodiscard]] char const* tr(Text here, Text there) const { return tr(away() ? there : here); }

  [[nodiscard]] float px(float units) const { return theme.px(units); }

  [[nodiscard]] Palette const& colours() const { return theme.colours(); }

  /// The task that is shown: the one that trains, or did last; null if all wait, and without any.
  [[nodiscard]] node::TaskView const* task() const;
  [[nodiscard]] bool is_self(std::string_view peer) const;
  /// Whether another machine than this one is shown.
  [[nodiscard]] bool away() const;
  /// Whether another machine's panels are shown and it does not answer: they are how it was.
  [[nodiscard]] bool lost() const;
  /// Whether what is asked for would be carried out: not by a machine that we may only watch, nor
  /// by one that does not answer. Buttons that would be refused are not shown.
  [[nodiscard]] bool may_steer() const;

  /// A setting's value as TOML writes it, what was just asked for included; empty: not known.
  [[nodiscard]] std::string value(std::string_view setting) const;
  /// Null: no such setting is known.
  [[nodiscard]] node::SettingView const* setting(std::string_view name) const;
  /// Asks for another value.
  void set(std::string name, std::string literal);
};

/// One line of text, cut with an ellipsis at the end of the space that is left.
void text(Frame const& frame, Font font, Colour colour, std::string_view words);
/// As many lines as it takes.
void wrapped(Frame const& frame, Font font, Colour colour, std::string_view words);
/// The size that words take on one line.
[[nodiscard]] ImVec2 measure(Frame const& frame, Font font, std::string_view words);
/// Words at a place, by a draw list: no item, no cursor.
void draw_text(Frame const& frame,
               ImDrawList& list,
               Font font,
               ImVec2 at,
               Colour colour,
               std::string_view words);
/// As much of the words as fits, "…" at the end where something is missing.
[[nodiscard]] std::string fitted(Frame const& frame,
                                 Font font,
                                 std::string_view words,
                                 float width);
/// The next item is one at which Tab stops; tab_stopped() follows right behind it, and names it,
/// the same in every language.
void tab_stop(Frame const& frame);
void tab_stopped(Frame const& frame, std::string_view name);
/// A few words beside the pointer, or the item that the keyboard is at, on as many lines as they
/// take.
void tooltip(Frame const& frame, std::string_view words);
/// Vertical room.
void gap(Frame const& frame, float units);

}  // namespace waggle::ui
