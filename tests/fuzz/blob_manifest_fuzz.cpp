// SPDX-License-Identifier: MIT
#include "core/blob/blob.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// A manifest has exactly one encoding.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  auto const manifest = blob::Manifest::decode(in);
  if (!manifest) return 0;
  WAGGLE_ASSERT(equal(manifest->encode(), in));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < manifest->chunks.size(); ++i) sum += manifest->chunk_size(i);
  WAGGLE_ASSERT(sum == manifest->size);
  return 0;
}
