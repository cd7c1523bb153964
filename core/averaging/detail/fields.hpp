// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "core/base/bytes.hpp"

/// protobuf's wire format, as far as messages around a large buffer need it: views instead of
/// copies.
namespace waggle::averaging::detail {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  unsigned number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  ///< varint, fixed64, fixed32
  ByteView bytes;           ///< length-delimited

  [[nodiscard]] bool is(unsigned n, WireType t) const noexcept { return number == n && type == t; }
};

/// Reads at `at` and moves it past. At most 10 bytes, as protobuf allows. Errors: malformed.
[[nodiscard]] inline Result<std::uint64_t> read_varint(ByteView in, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && at < in.size(); shift += 7) {
    auto const byte = std::to_integer<std::uint64_t>(in[at++]);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return Error{Errc::malformed, "protobuf: a number does not end"};
}

class FieldReader {
 public:
  explicit FieldReader(ByteView bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool done() const noexcept { return at_ == bytes_.size(); }

  /// Errors: malformed. Unknown fields are read like others.
  [[nodiscard]] Result<Field> next() {
    WAGGLE_TRY(auto const tag, read_varint(bytes_, at_));
    Field field;
    if (tag >> 3 == 0 || tag >> 32 != 0) return Error{Errc::malformed, "protobuf: field number"};
    field.number = static_cast<unsigned>(tag >> 3);
    field.type = static_cast<WireType>(tag & 7);
    switch (field.type) {
      case WireType::varint: {
        WAGGLE_TRY(field.value, read_varint(bytes_, at_));
        return field;
      }
      case WireType::fixed64: {
        WAGGLE_TRY(auto const raw, take(8));
        field.value = load_le<std::uint64_t>(raw);
        return field;
      }
      case WireType::fixed32: {
        WAGGLE_TRY(auto const raw, take(4));
        field.value = load_le<std::uint32_t>(raw);
        return field;
      }
      case WireType::bytes: {
        WAGGLE_TRY(auto const length, read_varint(bytes_, at_));
        WAGGLE_TRY(field.bytes, take(length));
        return field;
      }
    }
    return Error{Errc::malformed, "protobuf: wire type"};
  }

 private:
  Result<ByteView> take(std::uint64_t length) {
    if (length > bytes_.size() - at_) return Error{Errc::malformed, "protobuf: a field is cut off"};
    auto const view = bytes_.subspan(at_, static_cast<std::size_t>(length));
    at_ += view.size();
    return view;
  }

  ByteView bytes_;
  std::size_t at_ = 0;
};

inline void append_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::byte>(value));
}

inline void append_tag(Bytes& out, unsigned number, WireType type) {
  append_varint(out, (std::uint64_t{number} << 3) | static_cast<std::uint64_t>(type));
}

inline void append_number(Bytes& out, unsigned number, std::uint64_t value) {
  append_tag(out, number, WireType::varint);
  append_varint(out, value);
}

inline void append_double(Bytes& out, unsigned number, double value) {
  append_tag(out, number, WireType::fixed64);
  std::array<std::byte, 8> raw;
  store_le(MutableBytes(raw), value);
  append(out, raw);
}

inline void append_bytes_head(Bytes& out, unsigned number, std::size_t length) {
  append_tag(out, number, WireType::bytes);
  append_varint(out, length);
}

inline void append_bytes(Bytes& out, unsigned number, ByteView bytes) {
  append_bytes_head(out, number, bytes.size());
  append(out, bytes);
}

}  // namespace waggle::averaging::detail
