// SPDX-License-Identifier: MIT
#include "ui/palette.hpp"

#include <algorithm>
#include <cmath>

namespace waggle::ui {
namespace {

constexpr Palette kDark{
    .background = rgb(0x15171c),
    .rail = rgb(0x101216),
    .card = rgb(0x1d2027),
    .card_border = rgb(0x2a2e38),
    .control = rgb(0x2a2e38),
    .control_hover = rgb(0x343945),
    .chosen = rgb(0x23272f),
    .scroll = rgb(0x6a7180),
    .grid = rgb(0x2c313b),
    .text = rgb(0xeceef2),
    .muted = rgb(0x9aa3b2),
    .accent_fill = rgb(0xf2b84b),
    .accent_hover = rgb(0xffca66),
    .on_accent = rgb(0x241a05),
    .accent = rgb(0xf2b84b),
    .fill = rgb(0xf2b84b),
    .fill_hover = rgb(0xffca66),
    .swarm = rgb(0x6cb4ee),
    .good = rgb(0x4cc9a0),
    .warn = rgb(0xf2b84b),
    .bad = rgb(0xff8a70),
};

constexpr Palette kLight{
    .background = rgb(0xf4f3ef),
    .rail = rgb(0xebe9e3),
    .card = rgb(0xffffff),
    .card_border = rgb(0xe2dfd6),
    .control = rgb(0xefede7),
    .control_hover = rgb(0xe4e1d8),
    .chosen = rgb(0xffffff),
    .scroll = rgb(0x80848e),
    .grid = rgb(0xe6e3db),
    .text = rgb(0x1e2126),
    .muted = rgb(0x5a616d),
    .accent_fill = rgb(0xf2b233),
    .accent_hover = rgb(0xe7a41c),
    .on_accent = rgb(0x241a05),
    .accent = rgb(0x8a5800),
    .fill = rgb(0xb86d00),
    .fill_hover = rgb(0xa86200),
    .swarm = rgb(0x1565a8),
    .good = rgb(0x00704f),
    .warn = rgb(0x8a5800),
    .bad = rgb(0xa93417),
};

double linear(std::uint8_t channel) {
  double const c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Colour c) {
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

}  // namespace

Palette const& palette(Mode mode) {
  return mode == Mode::dark ? kDark : kLight;
}

double contrast(Colour a, Colour b) {
  double const first = luminance(a);
  double const second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Colour blend(Colour over, Colour under) {
  double const alpha = over.a / 255.0;
  auto const mix = [alpha](std::uint8_t o, std::uint8_t u) {
    return static_cast<std::uint8_t>(std::lround(o * alpha + u * (1 - alpha)));
  };
  return {mix(over.r, under.r), mix(over.g, under.g), mix(over.b, under.b), 255};
}

}  // namespace waggle::ui
