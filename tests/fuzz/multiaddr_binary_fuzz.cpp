// SPDX-License-Identifier: MIT
#include "core/wire/multiaddr.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Bytes that parse print to a text that parses to the same address; every question can be asked of
// it.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const address = wire::Multiaddr::from_bytes(fuzz::input(data, size));
  if (!address) return 0;
  WAGGLE_ASSERT(address->bytes().size() <= wire::Multiaddr::kMaxBytes);
  auto const again = wire::Multiaddr::parse(address->text());
  WAGGLE_ASSERT(again.has_value() && *again == *address, address->text());
  WAGGLE_ASSERT(!address->is_loopback() || address->is_private(), address->text());
  WAGGLE_ASSERT(!address->is_plain_tcp() || address->tcp_target().has_value(), address->text());
  if (auto const id = address->peer_id()) {
    auto const named = address->with_peer_id(*id);
    WAGGLE_ASSERT(named.peer_id() == id && named.without_peer_id() == address->without_peer_id());
  }
  if (auto const relay = address->relay()) WAGGLE_ASSERT(!relay->is_relayed());
  return 0;
}
