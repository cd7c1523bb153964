// SPDX-License-Identifier: MIT
#include "core/dht/messages.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

namespace {

/// Whatever decodes encodes to something that decodes to the same bytes again.
template <class M>
void check(ByteView in) {
  auto const message = M::decode(in);
  if (!message) return;
  auto const bytes = message->encode();
  auto const again = M::decode(bytes);
  WAGGLE_ASSERT(again.has_value());
  WAGGLE_ASSERT(again->encode() == bytes);
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  auto const in = fuzz::input(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      check<dht::PingRequest>(in);
      break;
    case 1:
      check<dht::PingResponse>(in);
      break;
    case 2:
      check<dht::StoreRequest>(in);
      break;
    case 3:
      check<dht::StoreResponse>(in);
      break;
    case 4:
      check<dht::FindRequest>(in);
      break;
    default:
      check<dht::FindResponse>(in);
      break;
  }
  return 0;
}
