// SPDX-License-Identifier: MIT
#include "core/train/data/idx_images.hpp"

#include <doctest/doctest.h>

namespace waggle::train {
namespace {

Bytes idx(std::vector<std::uint32_t> const& sizes, std::size_t data, std::uint8_t value = 1) {
  Bytes out{std::byte{0}, std::byte{0}, std::byte{8}, static_cast<std::byte>(sizes.size())};
  for (auto const size : sizes) {
    Bytes word(4);
    store_be(MutableBytes(word), size);
    append(out, word);
  }
  out.resize(out.size() + data, static_cast<std::byte>(value));
  return out;
}

TEST_CASE("idx, reads grey and coloured images with their labels") {
  auto const grey = read_idx_images(idx({2, 3, 4}, 24), idx({2}, 2), 10);
  REQUIRE(grey);
  CHECK(grey->count == 2);
  CHECK(grey->channels == 1);
  CHECK(grey->height == 3);
  CHECK(grey->width == 4);
  auto colour = read_idx_images(idx({2, 3, 4, 5}, 120), idx({2}, 2), 10);
  REQUIRE(colour);
  CHECK(colour->channels == 3);
  CHECK(colour->image_size() == 60);
  auto more = *colour;
  REQUIRE(join(*colour, std::move(more)));
  CHECK(colour->count == 4);
  auto other = *grey;
  CHECK(!join(*colour, std::move(other)));
}

TEST_CASE("idx, hostile files are refused before they cost memory") {
  auto const labels = idx({2}, 2);
  auto const refused = [&](Bytes const& images) { return !read_idx_images(images, labels, 10); };
  CHECK(refused(idx({2, 3, 4}, 23)));
  CHECK(refused(idx({2, 3, 4}, 25)));
  CHECK(refused(idx({3, 3, 4}, 36)));  // three images, two labels
  CHECK(refused(idx({0xffffffff, 0xffffffff, 0xffffffff}, 8)));
  CHECK(refused(idx({0xffffffff, 1024, 1024}, 8)));
  CHECK(refused(idx({2, 0, 4}, 0)));
  CHECK(refused(idx({2, 12}, 24)));
  CHECK(refused(idx({2, 1, 1, 3, 4}, 24)));
  CHECK(refused(Bytes{}));
  CHECK(refused(Bytes(3)));
  auto wrong_type = idx({2, 3, 4}, 24);
  wrong_type[2] = std::byte{0x0d};
  CHECK(refused(wrong_type));
  auto whole = idx({2, 3, 4}, 24);
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n))));
  CHECK(!read_idx_images(whole, idx({2}, 2, 10), 10));  // a class the model does not have
  CHECK(!read_idx_images(whole, idx({2}, 3), 10));
  CHECK(!read_idx_images(whole, whole, 10));
}

}  // namespace
}  // namespace waggle::train
