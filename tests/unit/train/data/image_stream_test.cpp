// SPDX-License-Identifier: MIT
#include "core/train/data/image_stream.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

ImageSet numbered(std::uint32_t count) {
  ImageSet set{count, 1, 2, 3, {}, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 6; ++k)
      set.pixels.push_back(static_cast<std::uint8_t>(i * 6 + static_cast<std::uint32_t>(k)));
    set.labels.push_back(static_cast<std::uint8_t>(i));
  }
  return set;
}

struct Drawn {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
};

Drawn draw(ImageStream& stream, std::uint64_t position, std::size_t count) {
  Drawn out{std::vector<float>(count * 6), std::vector<std::int64_t>(count)};
  stream.draw(position, out.pixels, out.labels);
  return out;
}

TEST_CASE(
    "ImageStream, each pass shows every image once, shuffled anew and for each peer differently") {
  DataConfig const config;
  ImageStream a(numbered(20), config, 1), b(numbered(20), config, 2);
  auto const first = draw(a, 0, 20).labels;
  auto const second = draw(a, 20, 20).labels;
  CHECK(std::set(first.begin(), first.end()).size() == 20);
  CHECK(std::set(second.begin(), second.end()).size() == 20);
  CHECK(first != second);
  CHECK(first != draw(b, 0, 20).labels);
}

TEST_CASE("ImageStream, a position is the same sample however it is reached") {
  DataConfig config;
  config.crop_padding = 1;
  config.flip = true;
  ImageStream a(numbered(20), config, 1), b(numbered(20), config, 1);
  auto const whole = draw(a, 13, 15);
  for (std::size_t i = 15; i-- > 0;) {
    auto const one = draw(b, 13 + i, 1);
    CHECK(one.labels[0] == whole.labels[i]);
    CHECK(std::equal(one.pixels.begin(),
                     one.pixels.end(),
                     whole.pixels.begin() + static_cast<std::ptrdiff_t>(i * 6)));
  }
}

TEST_CASE("ImageStream, normalises, and pads with black") {
  DataConfig config;
  config.mean = {0.5};
  config.std = {0.25};
  ImageStream plain(numbered(2), config, 1);
  std::vector<float> pixels(6);
  std::vector<std::int64_t> labels(1);
  plain.take(1, pixels, labels);
  CHECK(labels[0] == 1);
  CHECK(pixels[0] == doctest::Approx((6 / 255.0 - 0.5) / 0.25));
  config.crop_padding = 8;
  ImageStream cropped(numbered(2), config, 1);
  bool black = false;
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto const drawn = draw(cropped, i, 1);
    black |=
        std::all_of(drawn.pixels.begin(), drawn.pixels.end(), [](float x) { return x == -2.0f; });
  }
  CHECK(black);
}

TEST_CASE("ImageStream, flips about half of the images and only left to right") {
  DataConfig config;
  config.flip = true;
  ImageStream stream(numbered(1), config, 3);
  int flipped = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    auto const p = draw(stream, i, 1).pixels;
    bool const mirrored = p[0] > p[2];
    flipped += mirrored;
    CHECK(p[1] == doctest::Approx(1 / 255.0));
    CHECK(p[mirrored ? 2 : 0] == 0.0f);
    CHECK(p[mirrored ? 5 : 3] == doctest::Approx(3 / 255.0));
  }
  CHECK(flipped > 150);
  CHECK(flipped < 250);
}

}  // namespace
}  // namespace waggle::train
