// SPDX-License-Identifier: MIT
#include "core/train/data/idx_images.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/text.hpp"
#include "core/train/data/gunzip.hpp"

namespace waggle::train {
namespace {

constexpr std::uint64_t kMaxUnpacked = std::uint64_t{4} << 30;
constexpr std::uint32_t kMaxSide = 1024;
constexpr std::uint32_t kMaxChannels = 64;

struct IdxHeader {
  std::vector<std::uint32_t> sizes;
  std::size_t header_bytes = 0;
};

// Magic: two zero bytes, 0x08 for unsigned bytes, the number of dimensions; then each, big-endian.
Result<IdxHeader> read_header(ByteView bytes, char const* what) {
  if (bytes.size() < 4) return Error{Errc::malformed, cat(what, ": no IDX header")};
  if (bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
    return Error{Errc::malformed, cat(what, ": not an IDX file")};
  if (bytes[2] != std::byte{0x08})
    return Error{Errc::malformed,
                 cat(what,
                     ": IDX type ",
                     std::to_integer<int>(bytes[2]),
                     ", only unsigned bytes (8) are read")};
  auto const dimensions = std::to_integer<std::size_t>(bytes[3]);
  if (dimensions < 1 || dimensions > 4)
    return Error{Errc::malformed, cat(what, ": ", dimensions, " dimensions")};
  IdxHeader header;
  header.header_bytes = 4 + 4 * dimensions;
  if (bytes.size() < header.header_bytes)
    return Error{Errc::malformed, cat(what, ": IDX header cut off")};
  for (std::size_t i = 0; i < dimensions; ++i)
    header.sizes.push_back(load_be<std::uint32_t>(bytes.subspan(4 + 4 * i)));
  return header;
}

}  // namespace

Result<ImageSet> read_idx_images(ByteView images, ByteView labels, std::uint32_t classes) {
  WAGGLE_TRY(auto const raw_images, gunzip(images, kMaxUnpacked));
  WAGGLE_TRY(auto const raw_labels, gunzip(labels, kMaxUnpacked));
  WAGGLE_TRY(auto const image_header, read_header(raw_images, "images"));
  WAGGLE_TRY(auto const label_header, read_header(raw_labels, "labels"));
  auto const& sizes = image_header.sizes;
  if (sizes.size() < 3)
    return Error{Errc::malformed, cat("images: ", sizes.size(), " dimensions, expected 3 or 4")};
  if (label_header.sizes.size() != 1)
    return Error{Errc::malformed, cat("labels: ", label_header.sizes.size(), " dimensions")};
  ImageSet set;
  set.count = sizes[0];
  set.channels = sizes.size() == 4 ? sizes[1] : 1;
  set.height = sizes[sizes.size() - 2];
  set.width = sizes[sizes.size() - 1];
  if (set.count == 0 || set.channels == 0 || set.height == 0 || set.width == 0)
    return Error{Errc::malformed, "images: a dimension is 0"};
  if (set.height > kMaxSide || set.width > kMaxSide || set.channels > kMaxChannels)
    return Error{Errc::too_large,
                 cat("images of ",
                     set.channels,
                     " x ",
                     set.height,
                     " x ",
                     set.width,
                     ", limit ",
                     kMaxChannels,
                     " x ",
                     kMaxSide,
                     " x ",
                     kMaxSide)};
  // 2^32 images of 2^26 bytes do not overflow 64 bits.
  auto const expected = std::uint64_t{set.count} * set.image_size();
  auto const have = raw_images.size() - image_header.header_bytes;
  if (have != expected)
    return Error{Errc::malformed,
                 cat("images: ", have, " bytes of pixels, header says ", expected)};
  if (label_header.sizes[0] != set.count)
    return Error{Errc::malformed,
                 cat("labels: ", label_header.sizes[0], " for ", set.count, " images")};
  if (raw_labels.size() - label_header.header_bytes != set.count)
    return Error{Errc::malformed, "labels: size differs from the header's"};
  set.pixels.resize(expected);
  std::memcpy(set.pixels.data(), raw_images.data() + image_header.header_bytes, expected);
  set.labels.resize(set.count);
  std::memcpy(set.labels.data(), raw_labels.data() + label_header.header_bytes, set.count);
  auto const largest = *std::max_element(set.labels.begin(), set.labels.end());
  if (largest >= classes)
    return Error{Errc::malformed, cat("labels: class ", largest, ", the model has ", classes)};
  return set;
}

Status join(ImageSet& into, ImageSet&& more) {
  if (into.count == 0) {
    into = std::move(more);
    return ok();
  }
  if (into.channels != more.channels || into.height != more.height || into.width != more.width)
    return Error{Errc::invalid, "image files of different shapes"};
  if (into.pixels.size() + more.pixels.size() > kMaxUnpacked)
    return Error{Errc::too_large, cat("images of more than ", kMaxUnpacked, " bytes together")};
  into.count += more.count;
  into.pixels.insert(into.pixels.end(), more.pixels.begin(), more.pixels.end());
  into.labels.insert(into.labels.end(), more.labels.begin(), more.labels.end());
  return ok();
}

}  // namespace waggle::train
