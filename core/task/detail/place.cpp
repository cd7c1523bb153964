// SPDX-License-Identifier: MIT
#include "core/task/detail/place.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::task::detail {
namespace {

constexpr std::size_t kMsgpackHead = 5;  // bin 32
// Of a prefix, and its head.
constexpr std::size_t kMaxListedBytes = kMaxListedPrefixes * (64 + 5) + kMsgpackHead;

}  // namespace

Bytes wrap(ByteView envelope) {
  return wire::Msgpack(to_bytes(envelope)).encode();
}

std::optional<Bytes> unwrap(ByteView value) {
  if (value.size() > TaskRecord::kMaxBytes + kMsgpackHead) return std::nullopt;
  auto const decoded = wire::Msgpack::decode(value);
  if (!decoded) return std::nullopt;
  auto const* bin = decoded->get<Bytes>();
  if (!bin) return std::nullopt;
  return *bin;
}

std::string claims_text(std::string_view prefix) {
  return cat(prefix, "_task");
}

std::vector<std::string> prefixes_in(ByteView value) {
  std::vector<std::string> prefixes;
  if (value.size() > kMaxListedBytes) return prefixes;
  auto const decoded = wire::Msgpack::decode(value);
  if (!decoded) return prefixes;
  auto const items = decoded->items();
  if (!items) return prefixes;
  for (auto const& item : *items) {
    auto const* text = item.get<std::string>();
    if (text && valid_prefix(*text) && prefixes.size() < kMaxListedPrefixes)
      prefixes.push_back(*text);
  }
  return prefixes;
}

Bytes subkey(PeerId const& operator_id) {
  return wire::Msgpack(to_bytes(operator_id.bytes())).encode();
}

std::optional<PeerId> operator_of(ByteView subkey) {
  if (subkey.size() > PeerId::kMaxSize + kMsgpackHead) return std::nullopt;
  auto const decoded = wire::Msgpack::decode(subkey);
  if (!decoded) return std::nullopt;
  auto const* bin = decoded->get<Bytes>();
  if (!bin) return std::nullopt;
  auto const id = crypto::peer_id_from_bytes(*bin);
  if (!id) return std::nullopt;
  return *id;
}

}  // namespace waggle::task::detail
