// SPDX-License-Identifier: MIT
#include "core/base/buffers.hpp"

#include <doctest/doctest.h>

using namespace waggle;

TEST_CASE("a buffer that was given back is used again, with the size that is asked for") {
  Bytes first = take_buffer(300'000);
  CHECK(first.size() == 300'000);
  auto const* const where = first.data();
  give_buffer(std::move(first));
  Bytes second = take_buffer(290'000);
  CHECK(second.size() == 290'000);
  CHECK(second.data() == where);
  { Recycled const until_here(std::move(second)); }
  Bytes const third = take_buffer(295'000);
  CHECK(third.size() == 295'000);
  CHECK(third.data() == where);
}

TEST_CASE("small buffers, and much larger ones than asked for, are not handed out again") {
  give_buffer(Bytes(100));
  Bytes large(4 * kSmallestKeptBuffer);
  auto const* const where = large.data();
  give_buffer(std::move(large));
  Bytes const small = take_buffer(kSmallestKeptBuffer);
  CHECK(small.data() != where);
  CHECK(take_buffer(100).size() == 100);
}

TEST_CASE("what is kept is bounded, the newest stay") {
  std::size_t const size = kMaxKeptBuffers / 4;
  std::byte const* newest = nullptr;
  std::vector<Bytes> many;
  for (int i = 0; i < 10; ++i) many.emplace_back(size);
  for (auto& buffer : many) {
    newest = buffer.data();
    give_buffer(std::move(buffer));
  }
  CHECK(take_buffer(size).data() == newest);
  give_buffer(Bytes(2 * kMaxKeptBuffers));
  CHECK(take_buffer(2 * kMaxKeptBuffers).size() == 2 * kMaxKeptBuffers);
}
