// SPDX-License-Identifier: MIT
#include "core/net/multistream.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// A token that is read is written back as the same bytes.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  auto const text = multistream::decode(in);
  if (!text || text->size() >= multistream::kMaxToken) return 0;
  auto const again = multistream::encode(*text);
  WAGGLE_ASSERT(equal(ByteView(again).last(in.size()), in));
  return 0;
}
