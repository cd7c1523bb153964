// SPDX-License-Identifier: MIT
#include "core/base/protobuf.hpp"

#include <array>

#include "core/base/text.hpp"

namespace waggle::protobuf {
namespace {

constexpr std::size_t kMaxProtobufVarint = 10;
constexpr std::uint64_t kMaxFieldNumber = (1u << 29) - 1;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("protobuf: ", what)};
}

Result<ByteView> take(ByteView& in, std::uint64_t size) {
  if (size > in.size())
    return malformed(cat(size, " bytes are announced, ", in.size(), " are left"));
  auto const taken = in.first(static_cast<std::size_t>(size));
  in = in.subspan(static_cast<std::size_t>(size));
  return taken;
}

std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

}  // namespace

Result<std::uint64_t> take_varint(ByteView& in) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < in.size() && i < kMaxProtobufVarint; ++i) {
    auto const byte = std::to_integer<std::uint64_t>(in[i]);
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    in = in.subspan(i + 1);
    return value;
  }
  return malformed("a number is cut off");
}

void append_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

Result<std::optional<Field>> FieldReader::next() {
  if (rest_.empty()) return std::optional<Field>{};
  WAGGLE_TRY(auto const tag, take_varint(rest_));
  std::uint64_t const number = tag >> 3;
  if (number == 0 || number > kMaxFieldNumber) return malformed(cat("field number ", number));
  Field field{static_cast<std::uint32_t>(number), static_cast<Field::Wire>(tag & 7), 0, {}};
  switch (field.wire) {
    case Field::Wire::varint: {
      WAGGLE_TRY(field.value, take_varint(rest_));
      break;
    }
    case Field::Wire::fixed64: {
      WAGGLE_TRY(auto const raw, take(rest_, 8));
      field.value = load_le<std::uint64_t>(raw);
      break;
    }
    case Field::Wire::bytes: {
      WAGGLE_TRY(auto const size, take_varint(rest_));
      WAGGLE_TRY(field.bytes, take(rest_, size));
      break;
    }
    case Field::Wire::fixed32: {
      WAGGLE_TRY(auto const raw, take(rest_, 4));
      field.value = load_le<std::uint32_t>(raw);
      break;
    }
    default:
      return malformed(cat("wire type ", tag & 7));
  }
  return std::optional(field);
}

void append_field(Bytes& out, std::uint32_t number, ByteView bytes) {
  append_field_header(out, number, bytes.size());
  append(out, bytes);
}

void append_field(Bytes& out, std::uint32_t number, std::uint64_t varint) {
  append_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(Field::Wire::varint));
  append_varint(out, varint);
}

void append_double(Bytes& out, std::uint32_t number, double value) {
  append_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(Field::Wire::fixed64));
  std::array<std::byte, sizeof(double)> raw;
  store_le(MutableBytes(raw), value);
  append(out, raw);
}

void append_field_header(Bytes& out, std::uint32_t number, std::size_t size) {
  append_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(Field::Wire::bytes));
  append_varint(out, size);
}

std::size_t field_header_size(std::uint32_t number, std::size_t size) noexcept {
  return varint_size(std::uint64_t{number} << 3) + varint_size(size);
}

}  // namespace waggle::protobuf
