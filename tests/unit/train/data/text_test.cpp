// SPDX-License-Identifier: MIT
#include "core/train/data/text.hpp"

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

Bytes counting(std::size_t size) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(i % 251);
  return out;
}

TEST_CASE("TextStream, holds out the last part and never trains on it") {
  Bytes text(1000, std::byte{'a'});
  std::fill(text.begin() + 900, text.end(), std::byte{'b'});
  DataConfig const config;
  auto const stream = TextStream::make(text, {}, config, 8, 5);
  REQUIRE(stream);
  CHECK(stream->test_samples() == 12);
  std::vector<std::int64_t> tokens(9 * 200);
  stream->draw(0, tokens);
  for (auto const token : tokens) CHECK(token == 'a');
  std::vector<std::int64_t> test(9 * 12);
  stream->take(0, test);
  for (auto const token : test) CHECK(token == 'b');
}

TEST_CASE("TextStream, draws windows of neighbours, the same at the same position") {
  DataConfig const config;
  auto const stream = TextStream::make(counting(500), counting(100), config, 16, 5);
  REQUIRE(stream);
  std::vector<std::int64_t> a(17 * 4), b(17);
  stream->draw(10, a);
  for (std::size_t i = 1; i < 17; ++i) CHECK(a[i] == (a[i - 1] + 1) % 251);
  stream->draw(12, b);
  CHECK(std::equal(b.begin(), b.end(), a.begin() + 34));
  auto const other = TextStream::make(counting(500), counting(100), config, 16, 6);
  std::vector<std::int64_t> c(17 * 4);
  other->draw(10, c);
  CHECK(a != c);
}

TEST_CASE("TextStream, refuses a text shorter than a window") {
  DataConfig const config;
  CHECK(!TextStream::make(counting(100), {}, config, 16, 1));
  CHECK(!TextStream::make(counting(16), counting(50), config, 16, 1));
  CHECK(!TextStream::make({}, {}, config, 16, 1));
  CHECK(TextStream::make(counting(17), counting(17), config, 16, 1));
}

}  // namespace
}  // namespace waggle::train
