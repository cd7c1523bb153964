// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace waggle::train {

/// A splitmix64 stream: small, seekable by construction, the same on every machine. Not for
/// secrets. Training draws everything from (seed, what for, position), so that a repeated
/// micro-batch is the same micro-batch.
class Random {
  __extension__ using Wide = unsigned __int128;

 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  /// An independent stream for `position` of `purpose`.
  constexpr Random(std::uint64_t seed, std::uint64_t purpose, std::uint64_t position) noexcept
      : state_(seed) {
    state_ = next() ^ (purpose * 0xd1342543de82ef95u);
    state_ = next() ^ (position * 0x9e3779b97f4a7c15u);
  }

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15u;
    auto z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, bound), bound > 0; the bias of 2^-64 × bound is no matter here.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  /// In [0, 1).
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Standard normal (Box and Muller).
  double normal() noexcept {
    auto const u = 1.0 - unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t state_;
};

}  // namespace waggle::train
