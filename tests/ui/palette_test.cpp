// SPDX-License-Identifier: MIT
#include "ui/palette.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle::ui;

namespace {

// What a dichromat sees, after Viénot, Brettel and Mollon (1999), in linear light; coarse, but
// enough to tell whether two hues fall together.
Colour seen_by_deuteranope(Colour c) {
  auto const linear = [](std::uint8_t v) { return std::pow(v / 255.0, 2.2); };
  auto const back = [](double v) {
    return static_cast<std::uint8_t>(
        std::lround(255 * std::pow(std::min(1.0, std::max(0.0, v)), 1 / 2.2)));
  };
  double const r = linear(c.r);
  double const g = linear(c.g);
  double const b = linear(c.b);
  double const yellow = 0.29275 * r + 0.70725 * g;
  return {back(yellow), back(yellow), back(-0.02234 * r + 0.02234 * g + b), 255};
}

double apart(Colour a, Colour b) {
  return std::sqrt(std::pow(a.r - b.r, 2) + std::pow(a.g - b.g, 2) + std::pow(a.b - b.b, 2));
}

}  // namespace

TEST_CASE("contrast is WCAG's: black on white is 21, equal colours are 1") {
  CHECK(contrast(rgb(0x000000), rgb(0xffffff)) == doctest::Approx(21));
  CHECK(contrast(rgb(0x777777), rgb(0xffffff)) == doctest::Approx(4.48).epsilon(0.01));
  CHECK(contrast(rgb(0x123456), rgb(0x123456)) == doctest::Approx(1));
}

TEST_CASE("every text colour reads well on every surface it stands on, in both themes") {
  for (auto const mode : {Mode::dark, Mode::light}) {
    auto const& p = palette(mode);
    for (auto const surface : {p.background, p.card, p.rail}) {
      for (auto const ink : {p.text, p.muted, p.accent, p.swarm, p.good, p.warn, p.bad})
        CHECK(contrast(ink, surface) >= 4.5);
    }
    for (auto const face : {p.control, p.control_hover, p.chosen})
      CHECK(contrast(p.text, face) >= 4.5);
    for (auto const ink : {p.muted, p.accent}) CHECK(contrast(ink, p.chosen) >= 4.5);
    // Beneath the pointer a place in the rail is half chosen.
    CHECK(contrast(p.muted, blend(with_alpha(p.chosen, 0.5), p.rail)) >= 4.5);
    CHECK(contrast(p.muted, p.control_hover) >= 4.5);
    // The ring around what the keyboard is at, on what it may lie: a shape.
    for (auto const surface : {p.background, p.card, p.rail, p.control})
      CHECK(contrast(p.accent, surface) >= 3);
    // A scroll bar, where it stands: that there is more below is told by nothing else.
    for (auto const surface : {p.background, p.rail}) CHECK(contrast(p.scroll, surface) >= 3);
    CHECK(contrast(p.muted, p.control) >= 4.5);
    CHECK(contrast(p.on_accent, p.accent_fill) >= 4.5);
    CHECK(contrast(p.on_accent, p.accent_hover) >= 4.5);
    // What tells how full something is, on its track, on the card beside it, and a switch's knob.
    for (auto const fill : {p.fill, p.fill_hover}) {
      for (auto const under : {p.control, p.control_hover, p.card})
        CHECK(contrast(fill, under) >= 3);
      CHECK(contrast(p.on_accent, fill) >= 3);
    }
    // A pill's word on its own tint, over the panel and over a card.
    for (auto const surface : {p.background, p.card})
      for (auto const ink : {p.swarm, p.good, p.warn, p.bad})
        CHECK(contrast(ink, blend(with_alpha(ink, kPillTint), surface)) >= 4.5);
  }
}

TEST_CASE("ours and the swarm's curve stay apart for who cannot tell red from green") {
  for (auto const mode : {Mode::dark, Mode::light}) {
    auto const& p = palette(mode);
    CHECK(apart(seen_by_deuteranope(p.accent), seen_by_deuteranope(p.swarm)) > 90);
  }
}
