// SPDX-License-Identifier: MIT
#include "core/net/kad/message.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// What is read keeps its meaning when it is written and read again, and lists stay bounded.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const message = kad::Message::decode(fuzz::input(data, size));
  if (!message) return 0;
  WAGGLE_ASSERT(message->closer_peers.size() <= kad::kMaxPeersRead);
  auto const again = kad::Message::decode(message->encode());
  WAGGLE_ASSERT(again && again->type == message->type && again->key == message->key);
  WAGGLE_ASSERT(again->closer_peers == message->closer_peers);
  WAGGLE_ASSERT(again->provider_peers == message->provider_peers);
  WAGGLE_ASSERT(again->cluster_level == message->cluster_level);
  return 0;
}
