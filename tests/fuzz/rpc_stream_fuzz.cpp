// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/net/rpc/stream_frame.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

/// Feeds `in` at most `step` bytes at a time; the items written again, and how far it came.
std::pair<Bytes, bool> parse(ByteView in, std::size_t step) {
  rpc::StreamParser parser(1u << 16);
  Bytes again;
  while (!in.empty()) {
    auto const space = parser.space();
    WAGGLE_ASSERT(!space.empty() && space.size() <= 1u << 16);
    auto const n = std::min({space.size(), step, in.size()});
    std::copy_n(in.begin(), n, space.begin());
    in = in.subspan(n);
    auto item = parser.advance(n);
    if (!item) return {std::move(again), false};
    if (!*item) continue;
    WAGGLE_ASSERT(parser.between_frames());
    append(again, rpc::stream_header((*item)->marker, (*item)->body.size()));
    append(again, (*item)->body);
    if ((*item)->marker == rpc::StreamMarker::end)
      WAGGLE_ASSERT(rpc::decode_rpc_error((*item)->body).size() <= 1024);
  }
  return {std::move(again), true};
}

}  // namespace

// However the bytes are cut, the same items come out, and they are the bytes that went in.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  auto const whole = parse(in, in.size());
  auto const bytewise = parse(in, 1);
  WAGGLE_ASSERT(whole == bytewise);
  WAGGLE_ASSERT(equal(whole.first, in.first(whole.first.size())));
  return 0;
}
