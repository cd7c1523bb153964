// SPDX-License-Identifier: MIT
#include "core/averaging/reducer.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::averaging;
using compress::CompressionType;

namespace {

Bytes encoded(std::vector<float> const& values) {
  Bytes out;
  REQUIRE(compress::encode(CompressionType::none, values, out));
  return out;
}

}  // namespace

TEST_CASE("Reducer: equal values come out unchanged, whatever the weights") {
  Reducer reducer({3}, 3);
  std::vector<float> const values{0.1F, -7.3F, 1e-6F};
  for (std::size_t s = 0; s < 2; ++s) {
    reducer.add_own(0, values, 1);
    reducer.counted(0, s, 1);
  }
  REQUIRE(reducer.add(0, CompressionType::none, encoded(values), 2));
  reducer.counted(0, 2, 2);
  reducer.finish(0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(reducer.average(0)[i] == doctest::Approx(values[i]));
}

TEST_CASE("Reducer: what is not finite is refused and leaves the sum alone") {
  Reducer reducer({2}, 2);
  std::vector<float> const good{1, 2};
  reducer.add_own(0, good, 1);
  reducer.counted(0, 0, 1);
  CHECK_FALSE(reducer.add(0, CompressionType::none, encoded({3, 4}), 1).has_value() == false);
  Bytes nan(8);
  auto const bad = std::nanf("");
  store_le(MutableBytes(nan), bad);
  auto const added = reducer.add(0, CompressionType::none, nan, 1);
  REQUIRE_FALSE(added);
  CHECK(added.error().code == Errc::invalid);
  CHECK_FALSE(reducer.add(0, CompressionType::none, ByteView(nan).first(7), 1));
}

TEST_CASE("Reducer: a mean that overflows becomes no change, not infinity") {
  Reducer reducer({1}, 2);
  std::vector<float> const big{3e38F};
  reducer.add_own(0, big, 3e38);
  reducer.counted(0, 0, 3e38);
  reducer.ban(1);
  REQUIRE(reducer.ready());
  reducer.finish(0);
  CHECK(reducer.average(0).empty());
  Bytes reply;
  REQUIRE(reducer.reply(0, CompressionType::none, encoded({5}), reply));
  CHECK(load_le<float>(reply) == 0);
}

TEST_CASE("Reducer: with all senders banned every part is finished without an average") {
  Reducer reducer({4, 4}, 2);
  CHECK_FALSE(reducer.ready());
  reducer.ban(0);
  reducer.ban(1);
  for (std::size_t part = 0; part < 2; ++part) {
    REQUIRE(reducer.ready());
    reducer.finish(part);
    CHECK(reducer.average(part).empty());
    reducer.advance();
  }
  CHECK(reducer.done());
}
