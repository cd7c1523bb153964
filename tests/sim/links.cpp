// SPDX-License-Identifier: MIT
#include "tests/sim/links.hpp"

namespace waggle::sim::links {
namespace {

constexpr std::uint32_t kRegions = 6;
// One way, milliseconds: western and eastern North America, Europe, South America, South and East
// Asia.
constexpr int kBetween[kRegions][kRegions] = {
    // clang-format off
    {  5,  32,  70,  85, 110,  55},
    { 32,   5,  40,  60,  95,  80},
    { 70,  40,   6,  95,  60, 115},
    { 85,  60,  95,  10, 150, 130},
    {110,  95,  60, 150,  10,  45},
    { 55,  80, 115, 130,  45,  10},
    // clang-format on
};

std::uint64_t scramble(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace

Links instant() {
  return {};
}

Links lan() {
  Links links;
  links.latency = [](std::uint32_t, std::uint32_t) { return std::chrono::microseconds(200); };
  links.bytes_per_second = 125e6;
  return links;
}

Links residential(std::uint64_t seed) {
  Links links;
  links.latency = [seed](std::uint32_t from, std::uint32_t to) {
    auto const a = scramble(seed ^ from);
    auto const b = scramble(seed ^ to);
    auto const access_us = 5000 + (a >> 32) % 35000 + 5000 + (b >> 32) % 35000;
    auto const between_ms = kBetween[a % kRegions][b % kRegions];
    return Duration(std::chrono::microseconds(access_us)) + std::chrono::milliseconds(between_ms);
  };
  links.jitter = 0.2;
  links.loss = 0.001;
  links.bytes_per_second = 2.5e6;
  links.dead_hosts_refuse = false;
  return links;
}

}  // namespace waggle::sim::links
