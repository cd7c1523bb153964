// SPDX-License-Identifier: MIT
#include "core/train/data/image_stream.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/assert.hpp"
#include "core/train/random.hpp"

namespace waggle::train {
namespace {

constexpr std::uint64_t kShuffle = 1;
constexpr std::uint64_t kAugment = 2;

}  // namespace

ImageStream::ImageStream(ImageSet set, DataConfig const& config, std::uint64_t seed)
    : set_(std::move(set)),
      padding_(static_cast<int>(config.crop_padding)),
      flip_(config.flip),
      seed_(seed),
      value_(set_.channels) {
  for (std::size_t c = 0; c < value_.size(); ++c) {
    auto const mean = c < config.mean.size() ? config.mean[c] : 0.0;
    auto const deviation = c < config.std.size() ? config.std[c] : 1.0;
    for (std::size_t v = 0; v < 256; ++v)
      value_[c][v] = static_cast<float>((static_cast<double>(v) / 255 - mean) / deviation);
  }
}

std::uint32_t ImageStream::index_of(std::uint64_t position) {
  auto const pass = position / set_.count;
  if (pass != pass_) {
    order_.resize(set_.count);
    std::iota(order_.begin(), order_.end(), 0u);
    Random random(seed_, kShuffle, pass);
    for (std::uint32_t i = set_.count; i > 1; --i)
      std::swap(order_[i - 1], order_[random.below(i)]);
    pass_ = pass;
  }
  return order_[position % set_.count];
}

void ImageStream::copy_plain(std::uint32_t index, float* out) const noexcept {
  auto const* in = set_.pixels.data() + std::size_t{index} * set_.image_size();
  for (std::size_t c = 0; c < set_.channels; ++c)
    for (std::size_t i = 0; i < std::size_t{set_.height} * set_.width; ++i)
      *out++ = value_[c][*in++];
}

void ImageStream::copy_augmented(std::uint32_t index,
                                 std::uint64_t position,
                                 float* out) const noexcept {
  Random random(seed_, kAugment, position);
  auto const span = static_cast<std::uint64_t>(2 * padding_ + 1);
  auto const dy = static_cast<int>(random.below(span)) - padding_;
  auto const dx = static_cast<int>(random.below(span)) - padding_;
  bool const mirrored = flip_ && (random.next() & 1) != 0;
  auto const h = static_cast<int>(set_.height);
  auto const w = static_cast<int>(set_.width);
  auto const* image = set_.pixels.data() + std::size_t{index} * set_.image_size();
  for (std::size_t c = 0; c < set_.channels; ++c) {
    // As torchvision's order of transforms has it: padded with black pixels, then normalised.
    auto const& value = value_[c];
    auto const* plane = image + c * set_.height * set_.width;
    for (int y = 0; y < h; ++y) {
      int const from_y = y + dy;
      for (int x = 0; x < w; ++x) {
        int const from_x = (mirrored ? w - 1 - x : x) + dx;
        bool const inside = from_y >= 0 && from_y < h && from_x >= 0 && from_x < w;
        *out++ = value[inside ? plane[from_y * w + from_x] : 0];
      }
    }
  }
}

void ImageStream::draw(std::uint64_t position,
                       std::span<float> pixels,
                       std::span<std::int64_t> labels) {
  auto const size = set_.image_size();
  WAGGLE_ASSERT(pixels.size() == labels.size() * size, pixels.size(), " ", labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto const index = index_of(position + i);
    labels[i] = set_.labels[index];
    if (padding_ == 0 && !flip_)
      copy_plain(index, pixels.data() + i * size);
    else
      copy_augmented(index, position + i, pixels.data() + i * size);
  }
}

void ImageStream::take(std::uint32_t first,
                       std::span<float> pixels,
                       std::span<std::int64_t> labels) const {
  auto const size = set_.image_size();
  WAGGLE_ASSERT(first + labels.size() <= set_.count, first, " + ", labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto const index = static_cast<std::uint32_t>(first + i);
    labels[i] = set_.labels[index];
    copy_plain(index, pixels.data() + i * size);
  }
}

}  // namespace waggle::train
