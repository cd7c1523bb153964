// SPDX-License-Identifier: MIT
#include "core/train/safetensors.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = waggle::fuzz::input(data, size);
  auto const header = waggle::train::read_safetensors_header(bytes, size);
  if (!header) return 0;
  // Whatever is accepted describes exactly the bytes that are there.
  std::uint64_t end = 0;
  for (auto const& tensor : header->tensors) {
    if (tensor.begin != end || tensor.end < tensor.begin) __builtin_trap();
    end = tensor.end;
  }
  if (header->data_start + end != size) __builtin_trap();
  return 0;
}
