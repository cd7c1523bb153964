// SPDX-License-Identifier: MIT
#include "core/compress/detail/uniform8.hpp"

#include <cmath>

#include "core/base/text.hpp"

namespace waggle::compress::detail {
namespace {

struct Scale {
  float mean = 0;
  float inverse = 0;  ///< 0: everything into one bucket
};

// Hivemind's scale is 6 s / 256 with s = ‖x - mean‖ / √(n - 1). Values near the float's edge
// overflow when squared in float; then the scalar kernel, which squares in double, decides.
Result<Scale> scale_of(Kernels const& kernels, std::span<float const> in) {
  auto moments = kernels.moments(in.data(), in.size(), in[0]);
  if (!std::isfinite(moments.sum) || !std::isfinite(moments.sum_of_squares)) {
    if (!kernels.all_finite(in.data(), in.size()))
      return Error{Errc::invalid, cat("a value among ", in.size(), " is not finite")};
    moments = scalar_kernels().moments(in.data(), in.size(), in[0]);
  }
  auto const n = static_cast<double>(in.size());
  double const offset = moments.sum / n;
  double const spread = std::max(0.0, moments.sum_of_squares - moments.sum * offset);
  double const deviation = in.size() > 1 ? std::sqrt(spread / (n - 1)) : 0.0;
  auto const scale = static_cast<float>(6.0 * deviation / kCodebook);
  float const inverse = 1.0F / scale;
  return Scale{static_cast<float>(static_cast<double>(in[0]) + offset),
               std::isfinite(scale) && std::isfinite(inverse) ? inverse : 0.0F};
}

}  // namespace

Status encode_uniform8(Kernels const& kernels, std::span<float const> in, MutableBytes out) {
  Buckets buckets;
  store_le<std::int64_t>(out, kCodebook);
  if (!in.empty()) {
    WAGGLE_TRY(auto const scale, scale_of(kernels, in));
    kernels.quantize(in.data(),
                     in.size(),
                     scale.mean,
                     scale.inverse,
                     as_u8(out.subspan(kCodebookHeader)),
                     buckets);
  }
  for (std::size_t k = 0; k < kCodebook; ++k) {
    auto const mean =
        buckets.count[k] > 0 ? static_cast<float>(buckets.sum[k] / buckets.count[k]) : 0.0F;
    store_le(out.subspan(8 + 4 * k), mean);
  }
  return ok();
}

Result<std::array<float, kCodebook>> read_codebook(ByteView buffer, std::size_t n) {
  if (buffer.size() != kCodebookHeader + n)
    return Error{Errc::malformed,
                 cat("8-bit buffer of ",
                     buffer.size(),
                     " bytes for ",
                     n,
                     " values, expected ",
                     kCodebookHeader + n)};
  auto const length = load_le<std::int64_t>(buffer);
  if (length != static_cast<std::int64_t>(kCodebook))
    return Error{Errc::malformed, cat("codebook of ", length, " entries, expected ", kCodebook)};
  std::array<float, kCodebook> codebook;
  std::memcpy(codebook.data(), buffer.data() + 8, sizeof codebook);
  if (!scalar_kernels().all_finite(codebook.data(), codebook.size()))
    return Error{Errc::invalid, "a codebook entry is not finite"};
  return codebook;
}

}  // namespace waggle::compress::detail
