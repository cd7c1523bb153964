// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "ui/frame.hpp"
#include "ui/widgets/icon.hpp"

namespace waggle::ui {

enum class ButtonKind : std::uint8_t { primary, quiet };

/// A button with an icon before its words; true when it was pressed, by mouse or key.
/// `hint` is shown while the pointer rests on it.
bool button(Frame const& frame,
            char const* id,
            char const* words,
            ButtonKind kind = ButtonKind::quiet,
            Icon icon = Icon::none,
            char const* hint = nullptr,
            float width = 0);

/// Its width, for placing.
[[nodiscard]] float button_width(Frame const& frame, char const* words, Icon icon = Icon::none);

/// One of several, side by side; `chosen` is the index. True when it changed.
bool segmented(Frame const& frame, char const* id, std::span<char const* const> words, int& chosen);

/// Its width, for placing.
[[nodiscard]] float segmented_width(Frame const& frame, std::span<char const* const> words);

}  // namespace waggle::ui
