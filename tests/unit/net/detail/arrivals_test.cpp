// SPDX-License-Identifier: MIT
#include "core/net/detail/arrivals.hpp"

#include <random>

#include <doctest/doctest.h>

#include "core/base/copies.hpp"

using namespace waggle;
using namespace waggle::net;

namespace {

Block block_of(std::size_t n, unsigned char first) {
  auto block = std::make_shared<Recycled>(Bytes(n));
  for (auto& b : block->bytes) b = static_cast<std::byte>(first++);
  return block;
}

}  // namespace

TEST_CASE("Arrivals: bytes come out in the order in which they went in, whatever their sizes") {
  std::mt19937 random(3);
  Arrivals arrivals;
  Bytes in;
  Bytes out;
  unsigned char next = 0;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2 == 0) {
      std::size_t const size = random() % 3 == 0 ? 2000 : 1 + random() % 50;
      auto const block = block_of(2000, next);
      ByteView const bytes = ByteView(block->bytes).first(size);
      next = static_cast<unsigned char>(next + size);
      append(in, bytes);
      arrivals.push(bytes, block);
    } else {
      Bytes some(random() % 3000);
      some.resize(arrivals.take(some));
      append(out, some);
    }
    CHECK(arrivals.size() == in.size() - out.size());
  }
  Bytes rest(arrivals.size());
  CHECK(arrivals.take(rest) == rest.size());
  append(out, rest);
  CHECK(equal(in, out));
  CHECK(arrivals.empty());
}

TEST_CASE("Arrivals: what fills its block is kept without a copy, little of a large block is not") {
  Arrivals arrivals;
  auto const full = block_of(100'000, 1);
  arrivals.push(ByteView(full->bytes).first(60'000), full);
  CHECK(full.use_count() == 2);
  auto const sparse = block_of(100'000, 2);
  arrivals.push(ByteView(sparse->bytes).first(100), sparse);
  CHECK(sparse.use_count() == 1);
  Bytes out(60'000);
  auto const before = copied_bytes(Copied::receive);
  CHECK(arrivals.take(out) == 60'000);
  CHECK(copied_bytes(Copied::receive) - before == (kCountCopies ? 60'000 : 0));
  CHECK(full.use_count() == 1);
  CHECK(arrivals.clear() == 100);
  CHECK(arrivals.empty());
}
