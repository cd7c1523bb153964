// SPDX-License-Identifier: MIT
#include "ui/widgets/icon.hpp"

#include <array>
#include <cmath>
#include <span>

#include "ui/theme.hpp"

namespace waggle::ui {
namespace {

constexpr float kTau = 6.2831853F;

// Draws in the square from (-1, -1) to (1, 1).
struct Pen {
  ImDrawList& list;
  ImVec2 centre;
  float half;
  ImU32 ink;
  float thick;

  [[nodiscard]] ImVec2 at(float x, float y) const {
    return {centre.x + x * half, centre.y + y * half};
  }

  void lines(std::span<ImVec2 const> points, bool closed = false) const {
    for (auto const& p : points) list.PathLineTo(at(p.x, p.y));
    list.PathStroke(ink, closed ? ImDrawFlags_Closed : ImDrawFlags_None, thick);
  }

  void line(float x0, float y0, float x1, float y1) const {
    list.AddLine(at(x0, y0), at(x1, y1), ink, thick);
  }

  void circle(float x, float y, float r) const {
    list.AddCircle(at(x, y), r * half, ink, 0, thick);
  }

  void dot(float x, float y, float r) const { list.AddCircleFilled(at(x, y), r * half, ink); }

  void box(float x0, float y0, float x1, float y1, float rounding, bool filled = false) const {
    if (filled)
      list.AddRectFilled(at(x0, y0), at(x1, y1), ink, rounding * half);
    else
      list.AddRect(at(x0, y0), at(x1, y1), ink, rounding * half, 0, thick);
  }

  void polygon(int corners, float r, float turn, bool filled) const {
    for (int i = 0; i < corners; ++i) {
      float const a = kTau * (static_cast<float>(i) / static_cast<float>(corners)) + turn;
      list.PathLineTo(at(r * std::cos(a), r * std::sin(a)));
    }
    if (filled)
      list.PathFillConvex(ink);
    else
      list.PathStroke(ink, ImDrawFlags_Closed, thick);
  }
};

void gear(Pen const& pen) {
  pen.circle(0, 0, 0.34F);
  constexpr int kTeeth = 8;
  for (int i = 0; i < kTeeth * 4; ++i) {
    bool const outer = i % 4 < 2;
    float const a = kTau * (static_cast<float>(i) + 0.5F) / (kTeeth * 4);
    float const r = outer ? 0.98F : 0.74F;
    pen.list.PathLineTo(pen.at(r * std::cos(a), r * std::sin(a)));
  }
  pen.list.PathStroke(pen.ink, ImDrawFlags_Closed, pen.thick);
}

}  // namespace

void icon(ImDrawList& list, Icon shape, ImVec2 centre, float size, Colour colour, float scale) {
  Pen const pen{list, centre, size / 2, packed(colour), 1.6F * scale};
  switch (shape) {
    case Icon::none:
      break;
    case Icon::hive:
      pen.polygon(6, 1, kTau / 12, false);
      pen.polygon(6, 0.45F, kTau / 12, true);
      break;
    case Icon::home: {
      std::array<ImVec2, 3> const roof{ImVec2{-1, 0}, {0, -0.92F}, {1, 0}};
      std::array<ImVec2, 4> const walls{
          ImVec2{-0.7F, -0.15F}, {-0.7F, 0.9F}, {0.7F, 0.9F}, {0.7F, -0.15F}};
      pen.lines(roof);
      pen.lines(walls);
      break;
    }
    case Icon::swarm:
      pen.line(0, -0.62F, -0.66F, 0.55F);
      pen.line(0, -0.62F, 0.66F, 0.55F);
      pen.line(-0.66F, 0.55F, 0.66F, 0.55F);
      pen.dot(0, -0.66F, 0.32F);
      pen.dot(-0.68F, 0.58F, 0.32F);
      pen.dot(0.68F, 0.58F, 0.32F);
      break;
    case Icon::learning: {
      std::array<ImVec2, 3> const axes{ImVec2{-0.9F, -0.9F}, {-0.9F, 0.9F}, {0.95F, 0.9F}};
      std::array<ImVec2, 4> const curve{
          ImVec2{-0.5F, 0.45F}, {-0.1F, -0.1F}, {0.3F, 0.1F}, {0.9F, -0.75F}};
      pen.lines(axes);
      pen.lines(curve);
      break;
    }
    case Icon::hardware:
      pen.box(-0.62F, -0.62F, 0.62F, 0.62F, 0.2F);
      for (float const at : {-0.32F, 0.32F}) {
        pen.line(at, -0.95F, at, -0.62F);
        pen.line(at, 0.62F, at, 0.95F);
        pen.line(-0.95F, at, -0.62F, at);
        pen.line(0.62F, at, 0.95F, at);
      }
      break;
    case Icon::cross:
      pen.line(-0.7F, -0.7F, 0.7F, 0.7F);
      pen.line(-0.7F, 0.7F, 0.7F, -0.7F);
      break;
    case Icon::projects:
      pen.box(-0.9F, -0.9F, -0.12F, -0.12F, 0.2F);
      pen.box(0.12F, -0.9F, 0.9F, -0.12F, 0.2F);
      pen.box(-0.9F, 0.12F, -0.12F, 0.9F, 0.2F);
      pen.box(0.12F, 0.12F, 0.9F, 0.9F, 0.2F);
      break;
    case Icon::machines:
      pen.box(-0.95F, -0.8F, 0.95F, 0.45F, 0.2F);
      pen.line(0, 0.45F, 0, 0.9F);
      pen.line(-0.5F, 0.9F, 0.5F, 0.9F);
      break;
    case Icon::log:
      pen.line(-0.9F, -0.65F, 0.9F, -0.65F);
      pen.line(-0.9F, 0, 0.9F, 0);
      pen.line(-0.9F, 0.65F, 0.35F, 0.65F);
      break;
    case Icon::settings:
      gear(pen);
      break;
    case Icon::play:
      pen.list.AddTriangleFilled(
          pen.at(-0.6F, -0.9F), pen.at(-0.6F, 0.9F), pen.at(0.95F, 0), pen.ink);
      break;
    case Icon::pause:
      pen.box(-0.75F, -0.85F, -0.2F, 0.85F, 0.15F, true);
      pen.box(0.2F, -0.85F, 0.75F, 0.85F, 0.15F, true);
      break;
    case Icon::flag: {
      std::array<ImVec2, 4> const cloth{
          ImVec2{-0.6F, -0.8F}, {0.8F, -0.8F}, {0.45F, -0.3F}, {0.8F, 0.2F}};
      pen.line(-0.6F, -0.9F, -0.6F, 0.95F);
      pen.lines(cloth);
      pen.line(0.8F, 0.2F, -0.6F, 0.2F);
      break;
    }
    case Icon::copy:
      pen.box(-0.35F, -0.35F, 0.9F, 0.9F, 0.25F);
      pen.line(-0.9F, 0.35F, -0.9F, -0.9F);
      pen.line(-0.9F, -0.9F, 0.35F, -0.9F);
      break;
    case Icon::check: {
      std::array<ImVec2, 3> const tick{ImVec2{-0.85F, 0.05F}, {-0.2F, 0.65F}, {0.9F, -0.65F}};
      pen.lines(tick);
      break;
    }
    case Icon::dot:
      pen.dot(0, 0, 0.42F);
      break;
    case Icon::warning: {
      std::array<ImVec2, 3> const sign{ImVec2{0, -0.85F}, {0.98F, 0.85F}, {-0.98F, 0.85F}};
      pen.lines(sign, true);
      pen.line(0, -0.25F, 0, 0.3F);
      pen.dot(0, 0.58F, 0.1F);
      break;
    }
  }
}

}  // namespace waggle::ui
