// SPDX-License-Identifier: MIT
#include "core/crypto/detail/key_message.hpp"

#include <optional>

#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"

namespace waggle::crypto::detail {
namespace {

using protobuf::Field;

constexpr std::uint32_t kType = 1;
constexpr std::uint32_t kData = 2;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("key message: ", what)};
}

}  // namespace

Result<KeyMessage> KeyMessage::parse(ByteView serialized) {
  std::optional<std::uint64_t> type;
  std::optional<ByteView> data;
  protobuf::FieldReader reader(serialized);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    if (field->is(kType, Field::Wire::varint)) type = field->value;
    if (field->is(kData, Field::Wire::bytes)) data = field->bytes;
  }
  if (!type || !data) return malformed("type or data is missing");
  if (*type > static_cast<std::uint64_t>(KeyType::ecdsa))
    return malformed(cat("unknown key type ", *type));
  return KeyMessage{static_cast<KeyType>(*type), *data};
}

Bytes write_key_message(KeyType type, ByteView data) {
  Bytes out;
  out.reserve(data.size() + 8);  // no growth: a private key must leave no copies
  protobuf::append_field(out, kType, static_cast<std::uint64_t>(type));
  protobuf::append_field(out, kData, data);
  return out;
}

}  // namespace waggle::crypto::detail
