// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"

namespace waggle::train {

/// Labelled images as they lie in a file: one byte a channel's pixel, sample after sample.
struct ImageSet {
  std::uint32_t count = 0;
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> pixels;  ///< count × channels × height × width
  std::vector<std::uint8_t> labels;  ///< count

  [[nodiscard]] std::size_t image_size() const noexcept {
    return std::size_t{channels} * height * width;
  }
};

/// An IDX pair (the format of MNIST): images of unsigned bytes with 3 dimensions (count, height,
/// width) or 4 (count, channels, height, width), labels with 1; each plain or gzip. Limits: 4 GiB
/// unpacked, images up to 1,024 × 1,024 × 64, labels below `classes`. A file never makes us
/// allocate more than its own bytes could unpack to. Errors: malformed, too_large; both say what
/// and where.
[[nodiscard]] Result<ImageSet> read_idx_images(ByteView images,
                                               ByteView labels,
                                               std::uint32_t classes);

/// Joins sets of one shape. Errors: invalid (shapes differ), too_large.
[[nodiscard]] Status join(ImageSet& into, ImageSet&& more);

}  // namespace waggle::train
