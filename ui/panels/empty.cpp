// SPDX-License-Identifier: MIT
#include "ui/panels/empty.hpp"

#include <algorithm>

#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/icon.hpp"

namespace waggle::ui {

void draw_empty(Frame& frame) {
  bool const no_node = frame.snapshot == nullptr;
  // A node of ours that is not up yet, or one that has no name in the network yet.
  bool const starting = no_node ? frame.own_node : frame.snapshot->peer_id.empty();
  auto const& c = frame.colours();
  Card const card(frame, "empty");
  gap(frame, space::l);
  auto const at = ImGui::GetCursorScreenPos();
  float const size = frame.px(44);
  icon(*ImGui::GetWindowDrawList(),
       Icon::hive,
       {at.x + size / 2, at.y + size / 2},
       size,
       c.accent,
       frame.theme.scale * 1.4F);
  ImGui::Dummy({size, size});
  gap(frame, space::l);
  text(frame,
       Font::title,
       c.text,
       frame.tr(starting  ? Text::starting_title
                : no_node ? Text::no_node_title
                          : Text::no_task_title));
  gap(frame, space::s);
  if (!starting)
    wrapped(frame,
            Font::body,
            c.muted,
            frame.tr(!no_node         ? Text::no_task_text
                     : frame.can_join ? Text::no_node_join_text
                                      : Text::no_node_text));
  if (!no_node && !starting && frame.may_steer()) {
    gap(frame, space::l);
    if (button(frame, "projects", frame.tr(Text::choose_project), ButtonKind::primary))
      frame.to_projects = true;
  }
  gap(frame, space::l);
}

}  // namespace waggle::ui
