// SPDX-License-Identifier: MIT
#include "core/worker/messages.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = waggle::fuzz::input(data, size);
  auto const message = waggle::worker::decode(bytes);
  if (!message) return 0;
  // What is understood is written back as it was read.
  auto const again = waggle::worker::encode(*message);
  if (!again || !waggle::equal(*again, bytes)) __builtin_trap();
  return 0;
}
