// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"

namespace waggle::protobuf {

/// One field of a protobuf message, still in the bytes it was read from.
struct Field {
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number;
  Wire wire;
  std::uint64_t value = 0;  ///< of a varint, fixed64 and fixed32
  ByteView bytes;           ///< of a bytes field

  [[nodiscard]] bool is(std::uint32_t n, Wire w) const noexcept { return number == n && wire == w; }
};

/// Protobuf's own varint: up to ten bytes, longer forms allowed, unlike multiformats'. Moves `in`
/// past it. Errors: malformed.
[[nodiscard]] Result<std::uint64_t> take_varint(ByteView& in);
void append_varint(Bytes& out, std::uint64_t value);

/// Walks the fields of a serialized protobuf message without copying: our calls carry megabytes in
/// one bytes field. Accepts what protobuf's own parsers accept, groups excepted.
class FieldReader {
 public:
  explicit FieldReader(ByteView message) noexcept : rest_(message) {}

  /// Nothing at the end. Errors: malformed.
  [[nodiscard]] Result<std::optional<Field>> next();

 private:
  ByteView rest_;
};

/// Append one field each, presence included: an empty value is written.
void append_field(Bytes& out, std::uint32_t number, ByteView bytes);
void append_field(Bytes& out, std::uint32_t number, std::uint64_t varint);
void append_double(Bytes& out, std::uint32_t number, double value);
/// Tag and length of a bytes field whose content follows.
void append_field_header(Bytes& out, std::uint32_t number, std::size_t size);
[[nodiscard]] std::size_t field_header_size(std::uint32_t number, std::size_t size) noexcept;

}  // namespace waggle::protobuf
