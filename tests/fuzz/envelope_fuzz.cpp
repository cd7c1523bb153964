// SPDX-License-Identifier: MIT
#include <array>

#include "core/wire/envelope.hpp"
#include "core/wire/peer_record.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// The input as an envelope, and, since a fuzzer signs nothing, as the payload of a well-signed one.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  constexpr std::array kType{std::byte{0x03}, std::byte{0x01}};
  constexpr std::string_view kDomain = "libp2p-peer-record";
  static auto const identity = crypto::Identity::from_seed(std::array<std::byte, 32>{});

  if (auto const opened = wire::Envelope::open(in, kDomain, kType))
    WAGGLE_ASSERT(equal(opened->payload_type, kType));
  auto const sealed = wire::Envelope::seal(identity, kDomain, kType, in);
  auto const opened = wire::Envelope::open(sealed, kDomain, kType);
  WAGGLE_ASSERT(opened.has_value() && equal(opened->payload, in));
  if (auto const record = wire::PeerRecord::open(sealed))
    WAGGLE_ASSERT(record->id == identity.peer_id() &&
                  record->addresses.size() <= wire::PeerRecord::kMaxAddresses);
  return 0;
}
