// SPDX-License-Identifier: MIT
#include "core/crypto/detail/key_message.hpp"

#include <optional>

#include "core/base/text.hpp"

namespace waggle::crypto::detail {
namespace {

constexpr std::uint64_t kTypeTag = 1 << 3 | 0;
constexpr std::uint64_t kDataTag = 2 << 3 | 2;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("key message: ", what)};
}

// Protobuf's own varint: up to ten bytes, longer forms allowed, unlike multiformats'.
Result<std::uint64_t> take_varint(ByteView& in) {
  constexpr std::size_t kMaxBytes = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < in.size() && i < kMaxBytes; ++i) {
    auto const byte = std::to_integer<std::uint64_t>(in[i]);
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    in = in.subspan(i + 1);
    return value;
  }
  return malformed("a number is cut off");
}

Result<ByteView> take(ByteView& in, std::uint64_t size) {
  if (size > in.size())
    return malformed(cat(size, " bytes are announced, ", in.size(), " are left"));
  auto const taken = in.first(static_cast<std::size_t>(size));
  in = in.subspan(static_cast<std::size_t>(size));
  return taken;
}

Status skip(ByteView& in, std::uint64_t tag) {
  if (tag >> 3 == 0) return malformed("field 0");
  switch (tag & 7) {
    case 0: {
      WAGGLE_TRY_STATUS(take_varint(in));
      return ok();
    }
    case 1: {
      WAGGLE_TRY_STATUS(take(in, 8));
      return ok();
    }
    case 2: {
      WAGGLE_TRY(auto const size, take_varint(in));
      WAGGLE_TRY_STATUS(take(in, size));
      return ok();
    }
    case 5: {
      WAGGLE_TRY_STATUS(take(in, 4));
      return ok();
    }
    default:
      return malformed("unknown wire type");
  }
}

void put_varint(Bytes& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

}  // namespace

Result<KeyMessage> KeyMessage::parse(ByteView serialized) {
  std::optional<std::uint64_t> type;
  std::optional<ByteView> data;
  while (!serialized.empty()) {
    WAGGLE_TRY(auto const tag, take_varint(serialized));
    if (tag == kTypeTag) {
      WAGGLE_TRY(type, take_varint(serialized));
    } else if (tag == kDataTag) {
      WAGGLE_TRY(auto const size, take_varint(serialized));
      WAGGLE_TRY(data, take(serialized, size));
    } else {
      WAGGLE_TRY_STATUS(skip(serialized, tag));
    }
  }
  if (!type || !data) return malformed("type or data is missing");
  if (*type > static_cast<std::uint64_t>(KeyType::ecdsa))
    return malformed(cat("unknown key type ", *type));
  return KeyMessage{static_cast<KeyType>(*type), *data};
}

Bytes write_key_message(KeyType type, ByteView data) {
  Bytes out;
  out.reserve(data.size() + 8);  // no growth: a private key must leave no copies
  put_varint(out, kTypeTag);
  put_varint(out, static_cast<std::uint64_t>(type));
  put_varint(out, kDataTag);
  put_varint(out, data.size());
  append(out, data);
  return out;
}

}  // namespace waggle::crypto::detail
