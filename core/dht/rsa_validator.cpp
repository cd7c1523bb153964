// SPDX-License-Identifier: MIT
#include "core/dht/rsa_validator.hpp"

#include "core/base/text.hpp"
#include "core/crypto/multibase.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/marks.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::dht {
namespace {

std::vector<Mark> owners(RecordView const& record) {
  auto marks = find_marks(record.key.bytes, kOwnerOpening);
  auto const more = find_marks(record.subkey, kOwnerOpening);
  marks.insert(marks.end(), more.begin(), more.end());
  return marks;
}

Bytes without(ByteView value, std::vector<Mark> const& marks) {
  Bytes out;
  std::size_t at = 0;
  for (auto const& mark : marks) {
    append(out, value.subspan(at, mark.begin - at));
    at = mark.end;
  }
  append(out, value.subspan(at));
  return out;
}

}  // namespace

RsaValidator::RsaValidator(std::shared_ptr<crypto::RecordKey const> key)
    : key_(std::move(key)), owner_mark_(cat(kOwnerOpening, key_->openssh_public(), "]")) {
}

Status RsaValidator::validate(RecordView const& record) const {
  auto const owner = owners(record);
  if (owner.empty()) return ok();
  for (auto const& other : owner)
    if (other.content != owner.front().content)
      return Error{Errc::refused, "the record names several owners"};
  auto const signatures = find_marks(record.value, kSignatureOpening);
  if (signatures.size() != 1)
    return Error{Errc::bad_signature,
                 cat("an owned record has ", signatures.size(), " signatures instead of 1")};
  WAGGLE_TRY(auto const signature, crypto::base64_decode(signatures.front().content));
  Bytes const value = without(record.value, signatures);
  RecordView const bare{record.key, record.subkey, value, record.expiration};
  return crypto::verify_record(owner.front().content, signed_message(bare), signature);
}

Bytes RsaValidator::sign(RecordView const& record) const {
  Bytes out = to_bytes(record.value);
  bool const ours = key_ && (as_text(record.subkey).find(owner_mark_) != std::string_view::npos ||
                             as_text(record.key.bytes).find(owner_mark_) != std::string_view::npos);
  if (!ours) return out;
  auto const mark =
      cat(kSignatureOpening, crypto::base64_encode(key_->sign(signed_message(record))), "]");
  append(out, as_bytes(mark));
  return out;
}

Bytes RsaValidator::strip(RecordView const& record) const {
  if (owners(record).empty()) return to_bytes(record.value);
  return without(record.value, find_marks(record.value, kSignatureOpening));
}

Bytes RsaValidator::signed_message(RecordView const& record) {
  using wire::Msgpack;
  Msgpack::Array items;
  items.emplace_back(to_bytes(record.key.bytes));
  items.emplace_back(to_bytes(record.subkey));
  items.emplace_back(to_bytes(record.value));
  items.emplace_back(record.expiration);
  return Msgpack::tuple(std::move(items)).encode();
}

}  // namespace waggle::dht
