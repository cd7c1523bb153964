// SPDX-License-Identifier: MIT
#include "core/compress/codec.hpp"

#include <cmath>
#include <utility>

#include "core/base/text.hpp"
#include "core/compress/detail/kernels.hpp"
#include "core/compress/detail/uniform8.hpp"

namespace waggle::compress {
namespace {

using detail::kernels;

Error not_built(CompressionType type) {
  return Error{Errc::refused, cat("codec ", name(type), " is not built")};
}

Error not_finite(CompressionType type, std::size_t n) {
  return Error{Errc::invalid, cat(name(type), ": a value among ", n, " is not finite")};
}

Status check_length(CompressionType type, ByteView buffer, std::size_t n) {
  std::size_t const expected = encoded_size(type, n);
  if (buffer.size() == expected) return ok();
  return Error{Errc::malformed,
               cat(name(type),
                   ": buffer of ",
                   buffer.size(),
                   " bytes for ",
                   n,
                   " values, expected ",
                   expected)};
}

// Length and finiteness, before anything is written.
Status check_plain(CompressionType type, ByteView buffer, std::size_t n) {
  WAGGLE_TRY_STATUS(check_length(type, buffer, n));
  bool const finite = type == CompressionType::none ? kernels().raw_finite(buffer.data(), n)
                                                    : kernels().halves_finite(buffer.data(), n);
  if (!finite) return not_finite(type, n);
  return ok();
}

}  // namespace

std::string_view name(CompressionType type) noexcept {
  switch (type) {
    case CompressionType::none:
      return "none";
    case CompressionType::meanstd_16bit:
      return "scaled_float16";
    case CompressionType::float16:
      return "float16";
    case CompressionType::quantile_8bit:
      return "quantile8bit";
    case CompressionType::uniform_8bit:
      return "uniform8bit";
    case CompressionType::blockwise_8bit:
      return "blockwise8bit";
  }
  return "unknown";
}

double estimated_ratio(CompressionType type) noexcept {
  switch (type) {
    case CompressionType::none:
      return 1.0;
    case CompressionType::meanstd_16bit:
    case CompressionType::float16:
      return 0.5;
    case CompressionType::quantile_8bit:
    case CompressionType::uniform_8bit:
    case CompressionType::blockwise_8bit:
      return 0.25;
  }
  return 1.0;
}

std::size_t encoded_size(CompressionType type, std::size_t n) noexcept {
  switch (type) {
    case CompressionType::none:
      return 4 * n;
    case CompressionType::float16:
      return 2 * n;
    case CompressionType::uniform_8bit:
    case CompressionType::quantile_8bit:
      return detail::kCodebookHeader + n;
    default:
      return 0;
  }
}

Status encode(CompressionType type, std::span<float const> in, Bytes& out) {
  out.resize(encoded_size(type, in.size()));
  switch (type) {
    case CompressionType::none:
      if (!kernels().all_finite(in.data(), in.size())) return not_finite(type, in.size());
      if (!in.empty()) std::memcpy(out.data(), in.data(), out.size());
      return ok();
    case CompressionType::float16:
      if (!kernels().to_half(in.data(), in.size(), out.data())) return not_finite(type, in.size());
      return ok();
    case CompressionType::uniform_8bit:
      return detail::encode_uniform8(kernels(), in, out);
    default:
      return not_built(type);
  }
}

Status decode(CompressionType type, ByteView buffer, std::span<float> out) {
  switch (type) {
    case CompressionType::none:
      WAGGLE_TRY_STATUS(check_plain(type, buffer, out.size()));
      if (!out.empty()) std::memcpy(out.data(), buffer.data(), buffer.size());
      return ok();
    case CompressionType::float16:
      WAGGLE_TRY_STATUS(check_plain(type, buffer, out.size()));
      kernels().from_half(buffer.data(), out.size(), out.data());
      return ok();
    case CompressionType::uniform_8bit:
    case CompressionType::quantile_8bit: {
      WAGGLE_TRY(auto const codebook, detail::read_codebook(buffer, out.size()));
      kernels().lookup(
          as_u8(buffer.subspan(detail::kCodebookHeader)), out.size(), codebook.data(), out.data());
      return ok();
    }
    default:
      return not_built(type);
  }
}

Status decode_accumulate(CompressionType type,
                         ByteView buffer,
                         float weight,
                         std::span<float> accumulator) {
  switch (type) {
    case CompressionType::none:
      WAGGLE_TRY_STATUS(check_plain(type, buffer, accumulator.size()));
      kernels().add_scaled(buffer.data(), accumulator.size(), weight, accumulator.data());
      return ok();
    case CompressionType::float16:
      WAGGLE_TRY_STATUS(check_plain(type, buffer, accumulator.size()));
      kernels().from_half_add(buffer.data(), accumulator.size(), weight, accumulator.data());
      return ok();
    case CompressionType::uniform_8bit:
    case CompressionType::quantile_8bit: {
      WAGGLE_TRY(auto codebook, detail::read_codebook(buffer, accumulator.size()));
      for (float& entry : codebook) entry *= weight;
      kernels().lookup_add(as_u8(buffer.subspan(detail::kCodebookHeader)),
                           accumulator.size(),
                           codebook.data(),
                           accumulator.data());
      return ok();
    }
    default:
      return not_built(type);
  }
}

bool all_finite(std::span<float const> values) noexcept {
  return kernels().all_finite(values.data(), values.size());
}

Result<Policy> Policy::parse(std::string_view text) {
  constexpr std::size_t kAdaptiveThreshold = 4096;
  for (auto const type :
       {CompressionType::none, CompressionType::float16, CompressionType::uniform_8bit})
    if (text == name(type)) return Policy(type);
  if (text == "size_adaptive")
    return Policy(kAdaptiveThreshold, CompressionType::float16, CompressionType::uniform_8bit);
  return Error{
      Errc::invalid,
      cat("unknown codec \"", text, "\"; known are none, float16, uniform8bit, size_adaptive")};
}

}  // namespace waggle::compress
