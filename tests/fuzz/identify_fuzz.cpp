// SPDX-License-Identifier: MIT
#include "core/net/identify.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// What is kept is within the limits, and means the same after we wrote it.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const message = identify::decode(fuzz::input(data, size));
  if (!message) return 0;
  WAGGLE_ASSERT(message->protocols.size() <= identify::kMaxProtocols);
  WAGGLE_ASSERT(message->listen_addresses.size() <= identify::kMaxAddresses);
  Bytes joined;
  for (auto const& part : identify::encode(*message)) append(joined, part);
  auto const again = identify::decode(joined);
  WAGGLE_ASSERT(again && *again == *message);
  return 0;
}
