// SPDX-License-Identifier: MIT
#include "ui/mark.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace waggle::ui {
namespace {

constexpr int kSamples = 4;  // a side, in each pixel: smooth edges
constexpr double kOuter = 0.94;
constexpr double kRing = 0.17;  // its thickness
constexpr double kInner = 0.44;

// How far a point lies from the middle, in corners of a hexagon that stands on one.
double hexagonal(double x, double y) {
  constexpr double kSide = std::numbers::sqrt3 / 2;
  double const flat = std::abs(x) / kSide;
  double const slanted = std::abs(x) / (2 * kSide) + std::abs(y);
  return std::max(flat, slanted);
}

bool inked(double x, double y) {
  double const r = hexagonal(x, y);
  return r <= kInner || (r <= kOuter && r >= kOuter - kRing);
}

}  // namespace

std::vector<std::uint8_t> mark(int size, Colour ink) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(4 * static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  double const step = 2.0 / (size * kSamples);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      int covered = 0;
      for (int i = 0; i < kSamples * kSamples; ++i) {
        double const x = (column * kSamples + i % kSamples + 0.5) * step - 1;
        double const y = (row * kSamples + i / kSamples + 0.5) * step - 1;
        covered += inked(x, y) ? 1 : 0;
      }
      auto const alpha = static_cast<std::uint8_t>(ink.a * covered / (kSamples * kSamples));
      pixels.insert(pixels.end(), {ink.r, ink.g, ink.b, alpha});
    }
  return pixels;
}

}  // namespace waggle::ui
