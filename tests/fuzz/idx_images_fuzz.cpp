// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/train/data/idx_images.hpp"

#include "tests/fuzz/fuzz.hpp"

// The first two bytes say how many of the rest are images; what follows are labels.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size < 2) return 0;
  auto const bytes = waggle::fuzz::input(data, size);
  auto const images = std::min<std::size_t>(data[0] * 256u + data[1], size - 2);
  auto const set =
      waggle::train::read_idx_images(bytes.subspan(2, images), bytes.subspan(2 + images), 10);
  if (set &&
      (set->pixels.size() != set->count * set->image_size() || set->labels.size() != set->count))
    __builtin_trap();
  return 0;
}
