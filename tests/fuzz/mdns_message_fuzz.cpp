// SPDX-License-Identifier: MIT
#include "core/net/mdns/discovery.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// What is kept is within the limits, means the same after we wrote it, and makes nobody dial
// further than the local network.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const message = mdns::Message::decode(fuzz::input(data, size));
  if (!message) return 0;
  WAGGLE_ASSERT(message->questions.size() + message->answers.size() <= mdns::Message::kMaxEntries);
  auto const written = message->encode();
  WAGGLE_ASSERT(written);
  if (written->size() <= mdns::Message::kMaxBytes) {
    auto const again = mdns::Message::decode(*written);
    WAGGLE_ASSERT(again && *again == *message);
  }
  (void)mdns::asks_for_peers(*message);
  auto const found = mdns::peers_in(*message, mdns::Source::local_network);
  WAGGLE_ASSERT(found.size() <= mdns::kMaxPeersInAnswer);
  for (auto const& peer : found) {
    WAGGLE_ASSERT(!peer.addresses.empty());
    WAGGLE_ASSERT(peer.addresses.size() <= mdns::kMaxAddressesOfPeer);
    for (auto const& address : peer.addresses)
      WAGGLE_ASSERT(address.is_private() && !address.is_loopback());
  }
  return 0;
}
