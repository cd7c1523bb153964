// SPDX-License-Identifier: MIT
#include "core/net/noise.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// Nobody without the keys gets through: whatever is sent, no handshake finishes.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static auto const self = crypto::Identity::from_seed(crypto::X25519Key{});
  crypto::X25519Key secret;
  secret.fill(std::byte{7});
  auto in = fuzz::input(data, size);
  if (in.empty()) return 0;
  bool const initiates = (std::to_integer<int>(in[0]) & 1) != 0;
  in = in.subspan(1);
  NoiseHandshake handshake(
      initiates ? NoiseHandshake::Role::initiator : NoiseHandshake::Role::responder,
      self,
      secret,
      secret);
  if (initiates) (void)handshake.step({});
  for (int i = 0; i < 3; ++i) {
    auto const n = std::min<std::size_t>(in.size(), !initiates && i == 0 ? 32 : in.size());
    (void)handshake.step(in.first(n));
    in = in.subspan(n);
  }
  WAGGLE_ASSERT(!handshake.finished());
  return 0;
}
