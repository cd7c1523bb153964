// SPDX-License-Identifier: MIT
#include "core/wire/varint.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// What is read is written back as the same bytes: there is one form of each number.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  auto const read = wire::read_varint(in);
  if (!read) return 0;
  Bytes out;
  wire::append_varint(out, read->first);
  WAGGLE_ASSERT(out.size() == read->second && wire::varint_size(read->first) == read->second);
  WAGGLE_ASSERT(equal(out, in.first(read->second)));
  return 0;
}
