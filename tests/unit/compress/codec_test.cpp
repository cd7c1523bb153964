// SPDX-License-Identifier: MIT
#include "core/compress/codec.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::compress;

namespace {

constexpr CompressionType kBuilt[] = {
    CompressionType::none, CompressionType::float16, CompressionType::uniform_8bit};

std::vector<float> normal(std::size_t n) {
  std::mt19937 rng(7348);
  std::normal_distribution<float> draw;
  std::vector<float> values(n);
  for (auto& v : values) v = draw(rng);
  return values;
}

double mean_squared_error(std::vector<float> const& a, std::vector<float> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

TEST_SUITE("Codec") {
  TEST_CASE("errors stay below hivemind's own test bounds") {
    auto const in = normal(1 << 20);
    for (auto const type : kBuilt) {
      CAPTURE(name(type));
      Bytes buffer;
      REQUIRE(encode(type, in, buffer));
      CHECK(buffer.size() == encoded_size(type, in.size()));
      std::vector<float> out(in.size());
      REQUIRE(decode(type, buffer, out));
      double const bound = type == CompressionType::none      ? 1e-30
                           : type == CompressionType::float16 ? 5e-8
                                                              : 3e-4;
      CHECK(mean_squared_error(in, out) < bound);
    }
  }

  TEST_CASE("accumulating adds the weighted decoded values") {
    auto const in = normal(5000);
    for (auto const type : kBuilt) {
      CAPTURE(name(type));
      Bytes buffer;
      REQUIRE(encode(type, in, buffer));
      std::vector<float> decoded(in.size());
      REQUIRE(decode(type, buffer, decoded));
      std::vector<float> sum(in.size(), 1.0F);
      REQUIRE(decode_accumulate(type, buffer, 3.0F, sum));
      for (std::size_t i = 0; i < in.size(); ++i)
        CHECK(sum[i] == doctest::Approx(1.0F + 3.0F * decoded[i]).epsilon(1e-5));
    }
  }

  TEST_CASE("the 8-bit codec keeps the mean, constants, single values and outliers") {
    Bytes buffer;
    for (std::vector<float> const& in : {std::vector<float>(700, 0.1F),
                                         std::vector<float>{42.5F},
                                         std::vector<float>(5000, -1e-30F)}) {
      REQUIRE(encode(CompressionType::uniform_8bit, in, buffer));
      std::vector<float> out(in.size());
      REQUIRE(decode(CompressionType::uniform_8bit, buffer, out));
      for (std::size_t i = 0; i < in.size(); ++i)
        CHECK(out[i] == doctest::Approx(in[i]).epsilon(1e-6));
    }
    auto in = normal(100'000);
    in[17] = 1000.0F;
    REQUIRE(encode(CompressionType::uniform_8bit, in, buffer));
    std::vector<float> out(in.size());
    REQUIRE(decode(CompressionType::uniform_8bit, buffer, out));
    CHECK(out[17] == 1000.0F);
    double mean_in = 0;
    double mean_out = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      mean_in += in[i];
      mean_out += out[i];
    }
    CHECK(mean_out / 1e5 == doctest::Approx(mean_in / 1e5).epsilon(1e-4));
  }

  TEST_CASE("values near the float's edge are finite and stay so") {
    std::vector<float> const in{3e38F, -3e38F, 3e38F, 1.0F};
    Bytes buffer;
    std::vector<float> out(in.size());
    REQUIRE(encode(CompressionType::uniform_8bit, in, buffer));
    REQUIRE(decode(CompressionType::uniform_8bit, buffer, out));
    REQUIRE(encode(CompressionType::float16, in, buffer));
    REQUIRE(decode(CompressionType::float16, buffer, out));
    CHECK(out[0] == 65504.0F);
  }

  TEST_CASE("a value that is not finite is refused, never sent") {
    for (auto const type : kBuilt)
      for (float const bad :
           {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
        for (std::size_t const at : {std::size_t{0}, std::size_t{4999}}) {
          auto in = normal(5000);
          in[at] = bad;
          Bytes buffer;
          auto const encoded = encode(type, in, buffer);
          REQUIRE(!encoded);
          CHECK(encoded.error().code == Errc::invalid);
        }
  }

  TEST_CASE("hostile buffers change nothing") {
    auto const in = normal(300);
    for (auto const type : kBuilt) {
      Bytes buffer;
      REQUIRE(encode(type, in, buffer));
      std::vector<float> sum(300, 5.0F);
      auto const untouched = sum;
      Bytes shorter(buffer.begin(), buffer.end() - 1);
      CHECK(!decode_accumulate(type, shorter, 1.0F, sum));
      Bytes longer = buffer;
      longer.push_back(std::byte{0});
      CHECK(!decode_accumulate(type, longer, 1.0F, sum));
      CHECK(!decode_accumulate(type, {}, 1.0F, sum));
      Bytes poisoned = buffer;
      // The last bytes of a raw or half buffer, or an entry of the codebook: NaN.
      std::size_t const at =
          type == CompressionType::uniform_8bit ? 8 + 4 * 77 : poisoned.size() - 4;
      for (std::size_t i = 0; i < 4; ++i) poisoned[at + i] = std::byte{0xff};
      auto const decoded = decode_accumulate(type, poisoned, 1.0F, sum);
      REQUIRE(!decoded);
      CHECK(decoded.error().code == Errc::invalid);
      CHECK(sum == untouched);
    }
    std::vector<float> sum(1);
    CHECK(decode(CompressionType::blockwise_8bit, {}, sum).error().code == Errc::refused);
    CHECK(decode(static_cast<CompressionType>(77), {}, sum).error().code == Errc::refused);
  }

  TEST_CASE("nothing encodes to nothing") {
    std::vector<float> none;
    Bytes buffer;
    for (auto const type : kBuilt) {
      REQUIRE(encode(type, none, buffer));
      CHECK(decode(type, buffer, none));
    }
  }
}

TEST_SUITE("Policy") {
  TEST_CASE("size_adaptive switches at 4096 values") {
    auto const policy = Policy::parse("size_adaptive");
    REQUIRE(policy);
    CHECK(policy->for_tensor(4095) == CompressionType::float16);
    CHECK(policy->for_tensor(4096) == CompressionType::uniform_8bit);
  }

  TEST_CASE("an optimizer's moments are never rounded") {
    CHECK(Policy(CompressionType::float16).for_tensor(10, TensorRole::optimizer) ==
          CompressionType::none);
  }

  TEST_CASE("an unknown name is refused with the known ones") {
    auto const policy = Policy::parse("gzip");
    REQUIRE(!policy);
    CHECK(policy.error().detail.find("size_adaptive") != std::string::npos);
  }
}
