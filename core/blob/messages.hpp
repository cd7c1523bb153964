// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/blob/blob.hpp"

/// What peers say on `/waggle/blob/1`. The conversation, on one stream, requests answered one after
/// the other:
///
///     asker                                     holder
///     Request{blob, manifest}         →         Answer{ok, manifest's bytes} | not_held
///     Request{blob, holding}          →         Answer{ok, bitmap} | not_held
///     Request{blob, chunk, index}     →         Answer{ok, raw|zstd, bytes} | not_held
///     end of stream                             busy at any time: come back later
///
/// Each is an lp frame of protobuf (proto/blob.proto). Pure.
namespace waggle::blob {

inline constexpr std::string_view kProtocol = "/waggle/blob/1";
constexpr std::size_t kMaxRequestBytes = 128;
constexpr std::size_t kMaxChunks = kMaxBlobBytes / kChunkBytes;
constexpr std::size_t kMaxManifestBytes = kMaxChunks * 34 + 16;
/// A frame around the largest body of its kind.
constexpr std::size_t kAnswerHead = 32;
constexpr std::size_t kMaxManifestAnswer = kMaxManifestBytes + kAnswerHead;
constexpr std::size_t kMaxHoldingAnswer = kMaxChunks / 8 + kAnswerHead;
constexpr std::size_t kMaxChunkAnswer = kChunkBytes + kAnswerHead;

/// Wire-stable.
enum class Ask : std::uint8_t { manifest = 1, holding = 2, chunk = 3 };
/// Wire-stable.
enum class Said : std::uint8_t { ok = 1, not_held = 2, busy = 3 };
/// Wire-stable.
enum class Packing : std::uint8_t { raw = 0, zstd = 1 };

struct Request {
  BlobId blob;
  Ask ask = Ask::manifest;
  std::uint32_t chunk = 0;

  [[nodiscard]] Bytes encode() const;
  /// Errors: malformed.
  [[nodiscard]] static Result<Request> decode(ByteView bytes);
  friend bool operator==(Request const&, Request const&) = default;
};

struct Answer {
  Said said = Said::ok;
  Packing packing = Packing::raw;
  Bytes body;

  [[nodiscard]] Bytes encode() const;
  /// Errors: malformed.
  [[nodiscard]] static Result<Answer> decode(ByteView bytes);
  friend bool operator==(Answer const&, Answer const&) = default;
};

/// Chunk i is bit i % 8 (the lowest first) of byte i / 8.
[[nodiscard]] Bytes to_bitmap(std::vector<bool> const& held);
/// Errors: malformed (another length than `count` needs, bits beyond it).
[[nodiscard]] Result<std::vector<bool>> from_bitmap(ByteView bytes, std::size_t count);

/// A chunk as it travels: one zstd frame if that is smaller, else as it is. Cost: one pass at
/// zstd's level 1.
[[nodiscard]] Answer pack(Bytes chunk);
/// The plain bytes, exactly `size` of them. The frame must declare that size before anything is
/// decoded, be alone, and fit. Errors: malformed.
[[nodiscard]] Result<Bytes> unpack(Answer answer, std::size_t size);

}  // namespace waggle::blob
