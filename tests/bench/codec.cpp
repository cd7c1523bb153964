// SPDX-License-Identifier: MIT
// Encode and decode+accumulate, float32 bytes a second on one core, beside memcpy of the same
// floats in the same run.
#include "core/compress/codec.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/compress/detail/kernels.hpp"

#include "tests/bench/bench.hpp"

namespace waggle::bench {
namespace {

// A part of the all-reduce: 512 KiB encoded, as averaging cuts it for the 8-bit codec.
constexpr std::size_t kValues = 1U << 19;

double gigabytes_per_second(std::function<void()> const& call) {
  return 4.0 * kValues / best_seconds_per_call(call) / 1e9;
}

}  // namespace

Rows codec() {
  using compress::CompressionType;
  std::mt19937 rng(7348);
  std::normal_distribution<float> draw;
  std::vector<float> values(kValues);
  for (auto& v : values) v = draw(rng);
  std::vector<float> out(kValues);
  double const copy =
      gigabytes_per_second([&] { std::memcpy(out.data(), values.data(), 4 * kValues); });
  std::string const set = compress::detail::kernels().name;
  // The targets are AVX-512's; AVX2 is asked for half.
  double const scale = set == "avx512" ? 1.0 : set == "avx2" ? 0.5 : 0.0;

  Rows rows;
  auto const measure = [&](CompressionType type, double encode_target, double decode_target) {
    Bytes buffer;
    std::string const codec_name(compress::name(type));
    double const encode =
        gigabytes_per_second([&] { (void)compress::encode(type, values, buffer); });
    rows.push_back({codec_name + " encode (" + set + ")",
                    encode,
                    "GB/s",
                    scale * encode_target,
                    true,
                    copy,
                    "memcpy",
                    ""});
    double const decode =
        gigabytes_per_second([&] { (void)compress::decode_accumulate(type, buffer, 0.25F, out); });
    rows.push_back({codec_name + " decode+accumulate (" + set + ")",
                    decode,
                    "GB/s",
                    scale * decode_target,
                    true,
                    copy,
                    "memcpy",
                    ""});
  };
  measure(CompressionType::uniform_8bit, 2.0, 4.0);
  measure(CompressionType::float16, 5.0, 5.0);
  measure(CompressionType::none, 0.0, 0.0);
  return rows;
}

}  // namespace waggle::bench
