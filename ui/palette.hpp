// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace waggle::ui {

/// sRGB, 0 to 255.
struct Colour {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;
  bool operator==(Colour const&) const = default;
};

[[nodiscard]] constexpr Colour rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16),
          static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex),
          255};
}

[[nodiscard]] constexpr Colour with_alpha(Colour c, double alpha) {
  return {c.r, c.g, c.b, static_cast<std::uint8_t>(alpha * 255)};
}

enum class Mode : std::uint8_t { dark, light };

/// All colours of a theme, by what they mean. Meanings are never told by hue alone: a pill has a
/// word, a series its name at its end; hues are apart for the three common kinds of colour
/// blindness too (amber, blue, vermilion, bluish green after Okabe and Ito).
struct Palette {
  Colour background;
  Colour rail;  ///< behind the navigation
  Colour card;
  Colour card_border;
  Colour control;  ///< a quiet button's and an input's face
  Colour control_hover;
  Colour chosen;  ///< the chosen place in the rail
  Colour scroll;  ///< what is pulled of a scroll bar
  Colour grid;    ///< lines in charts and tables
  Colour text;
  Colour muted;        ///< labels, units, hints
  Colour accent_fill;  ///< the one big button
  Colour accent_hover;
  Colour on_accent;  ///< text on accent_fill
  Colour accent;     ///< text and lines in the accent's hue
  Colour fill;       ///< how full something is: progress, bars, sliders, a switch that is on
  Colour fill_hover;
  Colour swarm;  ///< the others', beside the accent that is ours
  Colour good;
  Colour warn;
  Colour bad;
};

[[nodiscard]] Palette const& palette(Mode mode);

/// How much of its own colour stands behind a pill's word.
inline constexpr double kPillTint = 0.14;

/// WCAG 2's contrast of two opaque colours, 1 to 21; 4.5 reads well at text size, 3 for shapes.
[[nodiscard]] double contrast(Colour a, Colour b);

/// `over` at its alpha, on an opaque `under`.
[[nodiscard]] Colour blend(Colour over, Colour under);

}  // namespace waggle::ui
