// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/train/config.hpp"
#include "core/train/schedule.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const config = waggle::train::parse_config({reinterpret_cast<char const*>(data), size});
  if (!config) return 0;
  // Whatever is accepted has a schedule that is a number everywhere.
  for (std::int64_t const epoch : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, INT64_MAX})
    if (!std::isfinite(waggle::train::learning_rate(config->train, epoch))) __builtin_trap();
  return 0;
}
