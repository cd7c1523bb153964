// SPDX-License-Identifier: MIT
#include "core/compress/detail/kernels.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle::compress::detail;

namespace {

std::vector<float> normal(std::size_t n, unsigned seed, float mean = 0.3F, float deviation = 2.0F) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> draw(mean, deviation);
  std::vector<float> values(n);
  for (auto& v : values) v = draw(rng);
  return values;
}

// Lengths around every vector width and unroll.
std::vector<std::size_t> const kLengths{
    0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 1000, 4096, 4099, 70'000};

}  // namespace

TEST_SUITE("Kernels") {
  TEST_CASE("every usable set equals the scalar reference") {
    auto const& reference = scalar_kernels();
    for (auto const* kernels : usable_kernels()) {
      CAPTURE(kernels->name);
      for (auto const n : kLengths) {
        CAPTURE(n);
        auto const in = normal(n, static_cast<unsigned>(n));
        auto const expected = reference.moments(in.data(), n, 0.25F);
        auto const moments = kernels->moments(in.data(), n, 0.25F);
        CHECK(moments.sum == doctest::Approx(expected.sum).epsilon(1e-4));
        CHECK(moments.sum_of_squares == doctest::Approx(expected.sum_of_squares).epsilon(1e-5));

        std::vector<std::uint8_t> index(n);
        std::vector<std::uint8_t> expected_index(n);
        Buckets buckets;
        Buckets expected_buckets;
        reference.quantize(in.data(), n, 0.3F, 20.0F, expected_index.data(), expected_buckets);
        kernels->quantize(in.data(), n, 0.3F, 20.0F, index.data(), buckets);
        CHECK(index == expected_index);
        CHECK(buckets.count == expected_buckets.count);
        for (std::size_t k = 0; k < 256; ++k)
          CHECK(buckets.sum[k] == doctest::Approx(expected_buckets.sum[k]).epsilon(1e-4));

        auto const codebook = normal(256, 9);
        std::vector<float> out(n, 1.0F);
        std::vector<float> expected_out(n, 1.0F);
        kernels->lookup_add(index.data(), n, codebook.data(), out.data());
        reference.lookup_add(index.data(), n, codebook.data(), expected_out.data());
        CHECK(out == expected_out);
        kernels->lookup(index.data(), n, codebook.data(), out.data());
        reference.lookup(index.data(), n, codebook.data(), expected_out.data());
        CHECK(out == expected_out);

        std::vector<std::byte> half(2 * n + 1);
        std::vector<std::byte> expected_half(2 * n + 1);
        CHECK(kernels->to_half(in.data(), n, half.data() + 1));  // odd address on purpose
        CHECK(reference.to_half(in.data(), n, expected_half.data() + 1));
        CHECK(half == expected_half);
        kernels->from_half(half.data() + 1, n, out.data());
        reference.from_half(half.data() + 1, n, expected_out.data());
        CHECK(out == expected_out);
        kernels->from_half_add(half.data() + 1, n, 0.5F, out.data());
        reference.from_half_add(half.data() + 1, n, 0.5F, expected_out.data());
        for (std::size_t i = 0; i < n; ++i)
          CHECK(out[i] == doctest::Approx(expected_out[i]).epsilon(1e-6));
        kernels->add_scaled(reinterpret_cast<std::byte const*>(in.data()), n, -2.0F, out.data());
        reference.add_scaled(
            reinterpret_cast<std::byte const*>(in.data()), n, -2.0F, expected_out.data());
        for (std::size_t i = 0; i < n; ++i)
          CHECK(out[i] == doctest::Approx(expected_out[i]).epsilon(1e-6));
      }
    }
  }

  TEST_CASE("every half comes back equal, and its two neighbours round as the reference does") {
    auto const& reference = scalar_kernels();
    std::vector<float> in;
    for (std::uint32_t h = 0; h < 0x10000; ++h) {
      if ((h & 0x7c00U) == 0x7c00U) continue;
      auto const half = static_cast<std::uint16_t>(h);
      float value = 0;
      reference.from_half(reinterpret_cast<std::byte const*>(&half), 1, &value);
      std::uint16_t back = 0;
      reference.to_half(&value, 1, reinterpret_cast<std::byte*>(&back));
      REQUIRE(back == half);
      in.push_back(std::nextafter(value, std::numeric_limits<float>::infinity()));
      in.push_back(std::nextafter(value * 1.0005F, 0.0F));
    }
    std::vector<std::byte> expected(2 * in.size());
    reference.to_half(in.data(), in.size(), expected.data());
    for (auto const* kernels : usable_kernels()) {
      CAPTURE(kernels->name);
      std::vector<std::byte> out(2 * in.size());
      kernels->to_half(in.data(), in.size(), out.data());
      CHECK(out == expected);
    }
  }

  TEST_CASE("a NaN or an infinity is found wherever it stands") {
    for (auto const* kernels : usable_kernels()) {
      CAPTURE(kernels->name);
      for (float const bad : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()})
        for (std::size_t n = 1; n < 70; ++n)
          for (std::size_t at = 0; at < n; ++at) {
            std::vector<float> in(n, 1.0F);
            REQUIRE(kernels->all_finite(in.data(), n));
            in[at] = bad;
            REQUIRE(!kernels->all_finite(in.data(), n));
            std::vector<std::byte> raw(4 * n + 1);  // at an odd address
            std::memcpy(raw.data() + 1, in.data(), 4 * n);
            REQUIRE(!kernels->raw_finite(raw.data() + 1, n));
            std::fill(raw.begin(), raw.end(), std::byte{1});
            REQUIRE(kernels->raw_finite(raw.data() + 1, n));
            std::vector<std::byte> half(2 * n);
            REQUIRE(!kernels->to_half(in.data(), n, half.data()));
            std::fill(half.begin(), half.end(), std::byte{0});
            REQUIRE(kernels->halves_finite(half.data(), n));
            half[2 * at + 1] = std::byte{0xfc};
            REQUIRE(!kernels->halves_finite(half.data(), n));
          }
    }
  }
}
