// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/assert.hpp"
#include "core/base/bytes.hpp"

// Each target defines LLVMFuzzerTestOneInput; a broken property is a WAGGLE_ASSERT, which libFuzzer
// reports as a crash with its input.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace waggle::fuzz {

[[nodiscard]] inline ByteView input(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<std::byte const*>(data), size};
}

}  // namespace waggle::fuzz
