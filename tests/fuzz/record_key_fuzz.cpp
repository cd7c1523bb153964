// SPDX-License-Identifier: MIT
#include "core/crypto/record_key.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// The bytes as an owner's line in OpenSSH's form, which every node reads from strangers' records.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  Bytes const signature(256, std::byte{0x42});
  WAGGLE_ASSERT(!crypto::verify_record(as_text(in), in, signature));
  return 0;
}
