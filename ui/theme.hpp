// SPDX-License-Identifier: MIT
#pragma once

#include "ui/palette.hpp"

namespace waggle::ui {

/// How everything looks: colours, and lengths in units of 1/96 inch times the scale.
struct Theme {
  Mode mode = Mode::dark;
  float scale = 1;

  [[nodiscard]] Palette const& colours() const { return palette(mode); }

  /// A length of the design in pixels, whole so that edges are crisp.
  [[nodiscard]] float px(float units) const;
};

/// The steps between things; nothing stands at another distance.
namespace space {
inline constexpr float xs = 4;
inline constexpr float s = 8;
inline constexpr float m = 12;
inline constexpr float l = 18;
inline constexpr float xl = 26;
}  // namespace space

inline constexpr float kSmallestScale = 0.75F;
inline constexpr float kLargestScale = 3.0F;

/// Sets Dear ImGui's style. Thread: the window's, with a context.
void apply(Theme const& theme);

/// ImGui's packed colour.
[[nodiscard]] std::uint32_t packed(Colour colour);

}  // namespace waggle::ui
