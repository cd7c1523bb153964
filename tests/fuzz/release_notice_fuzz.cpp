// SPDX-License-Identifier: MIT
#include "core/crypto/peer_id.hpp"
#include "core/node/release/notice.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::node;

// The first byte says what the rest is: a value of the DHT, an envelope, a version, a text.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  static auto const key = crypto::Identity::from_seed(std::array<std::byte, 32>{});
  static auto const place = dht::Id::of_text(ReleaseNotice::key_text(key.peer_id()));
  auto const input = fuzz::input(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      (void)ReleaseRule().version(place, input);
      break;
    case 1: {
      auto const notice = ReleaseNotice::open(input, key.peer_id());
      WAGGLE_ASSERT(!notice || notice->check());
      break;
    }
    case 2: {
      // What is a version may be signed, and opens again.
      ReleaseNotice const notice{to_string(input), "x"};
      if (!ReleaseVersion::parse(notice.version)) break;
      auto const sealed = notice.seal(key);
      WAGGLE_ASSERT(sealed);
      WAGGLE_ASSERT(ReleaseRule().version(place, wrap_notice(*sealed)));
      break;
    }
    default: {
      ReleaseNotice const notice{"1", to_string(input)};
      auto const sealed = notice.seal(key);
      WAGGLE_ASSERT(sealed.has_value() == notice.check().has_value());
      if (!sealed) break;
      auto const opened = ReleaseNotice::open(*sealed, key.peer_id());
      WAGGLE_ASSERT(opened && opened->text == notice.text);
    }
  }
  return 0;
}
