// SPDX-License-Identifier: MIT
#include "core/wire/envelope.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/wire/proto/envelope.pb.h"
#include "core/wire/varint.hpp"

namespace waggle::wire {
namespace {

void put(Bytes& out, ByteView field) {
  append_varint(out, field.size());
  append(out, field);
}

Bytes signed_bytes(std::string_view domain, ByteView payload_type, ByteView payload) {
  Bytes out;
  out.reserve(domain.size() + payload_type.size() + payload.size() + 3 * kMaxVarintBytes);
  put(out, as_bytes(domain));
  put(out, payload_type);
  put(out, payload);
  return out;
}

}  // namespace

Bytes Envelope::seal(crypto::Identity const& identity,
                     std::string_view domain,
                     ByteView payload_type,
                     ByteView payload) {
  pb::Envelope message;
  message.set_public_key(to_string(identity.public_key().to_protobuf()));
  message.set_payload_type(to_string(payload_type));
  message.set_payload(to_string(payload));
  message.set_signature(to_string(identity.sign(signed_bytes(domain, payload_type, payload))));
  return to_bytes(message.SerializeAsString());
}

Result<Envelope> Envelope::open(ByteView serialized,
                                std::string_view domain,
                                ByteView payload_type) {
  if (serialized.size() > kMaxBytes)
    return Error{Errc::malformed,
                 cat("envelope of ", serialized.size(), " bytes, at most ", kMaxBytes)};
  pb::Envelope message;
  if (!message.ParseFromArray(serialized.data(), static_cast<int>(serialized.size())))
    return Error{Errc::malformed, "envelope: no such message"};
  auto const type = as_bytes(message.payload_type());
  if (!equal(type, payload_type))
    return Error{Errc::refused,
                 cat("envelope's payload type is ",
                     to_hex(type.first(std::min<std::size_t>(type.size(), 32))),
                     ", not ",
                     to_hex(payload_type))};
  WAGGLE_TRY(auto signer, crypto::PublicKey::from_protobuf(as_bytes(message.public_key())));
  auto const payload = as_bytes(message.payload());
  WAGGLE_TRY_STATUS(
      signer.verify(signed_bytes(domain, type, payload), as_bytes(message.signature())));
  return Envelope{std::move(signer), to_bytes(type), to_bytes(payload)};
}

}  // namespace waggle::wire
