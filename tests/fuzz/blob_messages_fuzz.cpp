// SPDX-License-Identifier: MIT
#include "core/blob/messages.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Requests, answers, bitmaps and packed chunks of any bytes.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  if (auto const request = blob::Request::decode(in)) {
    auto const again = blob::Request::decode(request->encode());
    WAGGLE_ASSERT(again && *again == *request);
  }
  if (auto const answer = blob::Answer::decode(in)) {
    auto const again = blob::Answer::decode(answer->encode());
    WAGGLE_ASSERT(again && *again == *answer);
    for (std::size_t const plain : {std::size_t{1}, std::size_t{1000}, blob::kChunkBytes}) {
      auto const chunk = blob::unpack(*answer, plain);
      WAGGLE_ASSERT(!chunk || chunk->size() == plain);
    }
  }
  auto const holding = blob::from_bitmap(in, in.size() * 8);
  WAGGLE_ASSERT(holding && blob::to_bitmap(*holding) == to_bytes(in));
  blob::Answer raw;
  raw.packing = blob::Packing::zstd;
  raw.body = to_bytes(in);
  (void)blob::unpack(std::move(raw), 64);
  return 0;
}
