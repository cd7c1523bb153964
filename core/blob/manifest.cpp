// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/base/text.hpp"
#include "core/blob/blob.hpp"
#include "core/wire/varint.hpp"

namespace waggle::blob {
namespace {

// protobuf {1: uint64 size, 2: repeated bytes sha256}. By hand, because the id is the hash of these
// very bytes: no library's idea of a field order, of unknown fields or of a default may change
// them.
constexpr auto kSizeTag = std::byte{0x08};
constexpr auto kChunkTag = std::byte{0x12};
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kChunkRecord = 2 + kHashBytes;

std::uint64_t chunks_of(std::uint64_t size) {
  return (size + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace

Result<BlobId> BlobId::parse(std::string_view hex) {
  WAGGLE_TRY(auto const raw, from_hex(hex));
  BlobId id;
  if (raw.size() != id.hash.size())
    return Error{Errc::malformed, cat("blob id of ", raw.size(), " bytes, not ", id.hash.size())};
  std::copy(raw.begin(), raw.end(), id.hash.begin());
  return id;
}

Bytes Manifest::encode() const {
  Bytes out;
  if (size > 0) {
    out.push_back(kSizeTag);
    wire::append_varint(out, size);
  }
  for (auto const& hash : chunks) {
    out.push_back(kChunkTag);
    out.push_back(static_cast<std::byte>(kHashBytes));
    append(out, hash);
  }
  return out;
}

Result<Manifest> Manifest::decode(ByteView bytes) {
  Manifest manifest;
  if (!bytes.empty() && bytes.front() == kSizeTag) {
    auto const size = wire::read_varint(bytes.subspan(1));
    if (!size || size->first == 0) return Error{Errc::malformed, "manifest: bad size"};
    manifest.size = size->first;
    bytes = bytes.subspan(1 + size->second);
  }
  if (manifest.size > kMaxBlobBytes)
    return Error{Errc::too_large,
                 cat("blob of ", manifest.size, " bytes, at most ", kMaxBlobBytes)};
  auto const count = chunks_of(manifest.size);
  if (bytes.size() != count * kChunkRecord)
    return Error{Errc::malformed,
                 cat("manifest: ", bytes.size(), " bytes of hashes for ", count, " chunks")};
  manifest.chunks.resize(count);
  for (auto& hash : manifest.chunks) {
    if (bytes[0] != kChunkTag || bytes[1] != static_cast<std::byte>(kHashBytes))
      return Error{Errc::malformed, "manifest: bad chunk record"};
    std::copy_n(bytes.begin() + 2, kHashBytes, hash.begin());
    bytes = bytes.subspan(kChunkRecord);
  }
  return manifest;
}

BlobId Manifest::id() const {
  return BlobId{crypto::sha256(encode())};
}

std::size_t Manifest::chunk_size(std::size_t index) const noexcept {
  std::uint64_t const start = std::uint64_t{index} * kChunkBytes;
  if (start >= size) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, size - start));
}

}  // namespace waggle::blob
