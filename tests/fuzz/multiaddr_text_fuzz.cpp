// SPDX-License-Identifier: MIT
#include "core/wire/multiaddr.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// A text that parses prints to one that parses to the same address.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const address = wire::Multiaddr::parse(as_text(fuzz::input(data, size)));
  if (!address) return 0;
  auto const again = wire::Multiaddr::parse(address->text());
  WAGGLE_ASSERT(again.has_value() && *again == *address, address->text());
  return 0;
}
