// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "core/compress/codec.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::compress;

namespace {

std::vector<float> floats_of(nlohmann::json const& tensor) {
  auto const raw = test::unhex(tensor.at("raw_le_hex"));
  std::vector<float> values(raw.size() / 4);
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

bool is_float32(nlohmann::json const& c) {
  return c.at("input").at("dtype") == "float32";
}

bool finite(std::vector<float> const& values) {
  return all_finite(values);
}

}  // namespace

TEST_CASE("hivemind's buffers decode bit for bit") {
  std::size_t replayed = 0;
  for (auto const& c : test::vectors("compression").at("cases")) {
    auto const type = static_cast<CompressionType>(c.at("codec_id").get<int>());
    bool const built = type == CompressionType::none || type == CompressionType::float16 ||
                       type == CompressionType::uniform_8bit ||
                       type == CompressionType::quantile_8bit;
    if (!built || c.contains("error") || !is_float32(c)) continue;
    auto const expected = floats_of(c.at("output"));
    auto const buffer = test::unhex(c.at("message").at("buffer_hex"));
    CAPTURE(c.at("name").get<std::string>());
    std::vector<float> out(expected.size());
    auto const decoded = decode(type, buffer, out);
    if (!finite(expected)) {
      CHECK(!decoded);
    } else {
      REQUIRE(decoded);
      CHECK(equal(std::as_bytes(std::span(out)), std::as_bytes(std::span(expected))));
    }
    ++replayed;
  }
  test::announce("compression/cases (decode)", replayed);
  CHECK(replayed == 40);
}

TEST_CASE("our buffers equal hivemind's: none and float16 bit for bit, uniform8bit to rounding") {
  std::size_t replayed = 0;
  for (auto const& c : test::vectors("compression").at("cases")) {
    auto const type = static_cast<CompressionType>(c.at("codec_id").get<int>());
    bool const built = type == CompressionType::none || type == CompressionType::float16 ||
                       type == CompressionType::uniform_8bit;
    if (!built || c.contains("error") || !is_float32(c)) continue;
    CAPTURE(c.at("name").get<std::string>());
    auto const in = floats_of(c.at("input"));
    auto const expected = test::unhex(c.at("message").at("buffer_hex"));
    Bytes buffer;
    auto const encoded = encode(type, in, buffer);
    ++replayed;
    if (!finite(in)) {
      CHECK(!encoded);  // hivemind sends these; we never do
      continue;
    }
    REQUIRE(encoded);
    if (type != CompressionType::uniform_8bit) {
      CHECK(buffer == expected);
      continue;
    }
    // Reductions differ in the last bits, so a value on a border may fall into the next bucket:
    // compare what comes out.
    REQUIRE(buffer.size() == expected.size());
    std::vector<float> ours(in.size());
    std::vector<float> theirs(in.size());
    REQUIRE(decode(type, buffer, ours));
    REQUIRE(decode(type, expected, theirs));
    double our_error = 0;
    double their_error = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      our_error += std::pow(static_cast<double>(ours[i]) - in[i], 2);
      their_error += std::pow(static_cast<double>(theirs[i]) - in[i], 2);
    }
    CHECK(our_error <= their_error * 1.02 + 1e-12);
  }
  test::announce("compression/cases (encode)", replayed);
  CHECK(replayed == 29);
}

TEST_CASE("size-adaptive choices and ratio estimates equal hivemind's") {
  std::size_t adaptive = 0;
  for (auto const& c : test::vectors("compression").at("adaptive")) {
    if (c.at("kind") != "SizeAdaptive" || !c.contains("threshold")) continue;
    Policy const policy(c.at("threshold").get<std::size_t>(),
                        CompressionType::float16,
                        CompressionType::uniform_8bit);
    auto const expected =
        c.at("chosen") == "FLOAT16" ? CompressionType::float16 : CompressionType::uniform_8bit;
    REQUIRE(c.at("less") == "FLOAT16");
    REQUIRE(c.at("greater_equal") == "UNIFORM_8BIT");
    CHECK(policy.for_tensor(c.at("full_tensor_numel").get<std::size_t>()) == expected);
    ++adaptive;
  }
  test::announce("compression/adaptive", adaptive);
  std::size_t ratios = 0;
  for (auto const& c : test::vectors("compression").at("compression_ratio_estimates")) {
    if (c.at("dtype") != "float32" || !c.contains("ratio") || c.at("ratio").is_null()) continue;
    auto const& ids = test::vectors("compression").at("compression_type_ids");
    auto const type =
        static_cast<CompressionType>(ids.at(c.at("codec").get<std::string>()).get<int>());
    CHECK(estimated_ratio(type) == c.at("ratio").get<double>());
    ++ratios;
  }
  test::announce("compression/compression_ratio_estimates", ratios);
  CHECK(adaptive >= 3);
  CHECK(ratios >= 6);
}
