// SPDX-License-Identifier: MIT
#include "core/wire/msgpack.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Whatever decodes encodes to something that decodes to the same bytes again, and is never longer.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  auto const value = wire::Msgpack::decode(in);
  if (!value) return 0;
  (void)value->items();
  (void)value->find("epoch");
  auto const bytes = value->encode();
  WAGGLE_ASSERT(bytes.size() <= 2 * in.size());  // float32 becomes float64
  auto const again = wire::Msgpack::decode(bytes);
  WAGGLE_ASSERT(again.has_value());
  WAGGLE_ASSERT(again->encode() == bytes);
  return 0;
}
