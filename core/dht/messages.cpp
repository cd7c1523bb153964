// SPDX-License-Identifier: MIT
#include "core/dht/messages.hpp"

#include <algorithm>
#include <bit>

#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"
#include "core/dht/proto/dht.pb.h"

namespace waggle::dht {
namespace {

Error malformed(std::string_view message, std::string_view what) {
  return Error{Errc::malformed, cat(message, ": ", what)};
}

template <class M>
Result<M> parse(ByteView bytes, std::string_view message) {
  M m;
  if (!m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return malformed(message, "the protobuf does not parse");
  return m;
}

template <class M>
Bytes serialize(M const& m) {
  Bytes out(m.ByteSizeLong());
  m.SerializeWithCachedSizesToArray(as_u8(MutableBytes(out)));
  return out;
}

std::string text(ByteView bytes) {
  return to_string(bytes);
}

/// `peer` stands in every message, empty for a client.
template <class M>
void set_node(M& m, std::optional<Id> const& node) {
  auto* const peer = m.mutable_peer();
  if (node) peer->set_node_id(text(node->bytes));
}

template <class M>
Result<std::optional<Id>> get_node(M const& m, std::string_view message) {
  auto const& raw = m.peer().node_id();
  if (raw.empty()) return std::optional<Id>();
  auto const id = Id::from_wire(as_bytes(raw));
  if (!id) return malformed(message, cat("a node id of ", raw.size(), " bytes"));
  return id;
}

Result<Id> key_id(std::string const& raw, std::string_view message) {
  auto const id = Id::from_wire(as_bytes(raw));
  if (!id) return malformed(message, cat("a key of ", raw.size(), " bytes"));
  return *id;
}

// Answers to find are written and read by hand: nine in ten bytes of the DHT are theirs, and a
// protobuf object of one is forty strings.
using Wire = protobuf::Field::Wire;

// Wire-stable: FindResult's fields in proto/dht.proto.
constexpr std::uint32_t kType = 1;
constexpr std::uint32_t kValue = 2;
constexpr std::uint32_t kExpiration = 3;
constexpr std::uint32_t kNodeIds = 4;
constexpr std::uint32_t kPeerIds = 5;
// And FindResponse's.
constexpr std::uint32_t kResults = 2;
constexpr std::uint32_t kPeer = 3;

void append_result(Bytes& out, FindResult const& result) {
  Bytes inner;
  inner.reserve(32 + result.value.size() + result.nearest.size() * 64);
  // As in proto3, what is zero or empty is left out.
  if (result.type != FindResult::Type::not_found)
    protobuf::append_field(inner, kType, static_cast<std::uint64_t>(result.type));
  if (!result.value.empty()) protobuf::append_field(inner, kValue, ByteView(result.value));
  if (std::bit_cast<std::uint64_t>(result.expiration) != 0)
    protobuf::append_double(inner, kExpiration, result.expiration);
  for (auto const& contact : result.nearest)
    protobuf::append_field(inner, kNodeIds, ByteView(contact.id.bytes));
  for (auto const& contact : result.nearest)
    protobuf::append_field(inner, kPeerIds, contact.peer.bytes());
  protobuf::append_field(out, kResults, ByteView(inner));
}

Result<FindResult> decode_result(ByteView bytes) {
  FindResult out;
  std::vector<ByteView> ids;
  std::vector<ByteView> peers;
  auto const add = [](std::vector<ByteView>& list, ByteView one) {
    if (list.size() < kMaxNeighbours) list.push_back(one);
  };
  protobuf::FieldReader reader(bytes);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    if (field->is(kType, Wire::varint)) {
      bool const known = field->value == 1 || field->value == 2;
      out.type = known ? static_cast<FindResult::Type>(field->value) : FindResult::Type::not_found;
    }
    if (field->is(kValue, Wire::bytes)) out.value = to_bytes(field->bytes);
    if (field->is(kExpiration, Wire::fixed64)) out.expiration = std::bit_cast<double>(field->value);
    if (field->is(kNodeIds, Wire::bytes)) add(ids, field->bytes);
    if (field->is(kPeerIds, Wire::bytes)) add(peers, field->bytes);
  }
  std::size_t const n = std::min(ids.size(), peers.size());
  out.nearest.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto const id = Id::from_wire(ids[i]);
    auto const peer = PeerId::from_bytes(peers[i]);
    if (id && peer) out.nearest.push_back({*id, *peer});
  }
  return out;
}

}  // namespace

Bytes PingRequest::encode() const {
  pb::PingRequest m;
  set_node(m, node);
  m.set_validate(validate);
  return serialize(m);
}

Result<PingRequest> PingRequest::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::PingRequest>(bytes, "PingRequest"));
  WAGGLE_TRY(auto const node, get_node(m, "PingRequest"));
  return PingRequest{node, m.validate()};
}

Bytes PingResponse::encode() const {
  pb::PingResponse m;
  set_node(m, node);
  m.set_dht_time(dht_time);
  m.set_available(available);
  return serialize(m);
}

Result<PingResponse> PingResponse::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::PingResponse>(bytes, "PingResponse"));
  WAGGLE_TRY(auto const node, get_node(m, "PingResponse"));
  return PingResponse{node, m.dht_time(), m.available()};
}

Bytes StoreRequest::encode() const {
  pb::StoreRequest m;
  for (auto const& item : items) {
    m.add_keys(text(item.key.bytes));
    m.add_subkeys(text(item.tag));
    m.add_values(text(item.value));
    m.add_expiration_time(item.expiration);
    m.add_in_cache(item.in_cache);
  }
  set_node(m, node);
  return serialize(m);
}

Result<StoreRequest> StoreRequest::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::StoreRequest>(bytes, "StoreRequest"));
  WAGGLE_TRY(auto const node, get_node(m, "StoreRequest"));
  int const n = m.keys_size();
  if (m.values_size() != n || m.expiration_time_size() != n || m.in_cache_size() != n)
    return malformed("StoreRequest",
                     cat("lists of different lengths: ",
                         n,
                         " keys, ",
                         m.values_size(),
                         " values, ",
                         m.expiration_time_size(),
                         " expirations, ",
                         m.in_cache_size(),
                         " in_cache"));
  if (static_cast<std::size_t>(n) > kMaxStoreItems)
    return Error{Errc::too_large,
                 cat("StoreRequest: ", n, " items, the limit is ", kMaxStoreItems)};
  StoreRequest out;
  out.node = node;
  int const used = std::min(n, m.subkeys_size());
  out.items.reserve(static_cast<std::size_t>(used));
  for (int i = 0; i < used; ++i) {
    WAGGLE_TRY(auto const key, key_id(m.keys(i), "StoreRequest"));
    out.items.push_back(
        {key, to_bytes(m.subkeys(i)), to_bytes(m.values(i)), m.expiration_time(i), m.in_cache(i)});
  }
  return out;
}

Bytes StoreResponse::encode() const {
  pb::StoreResponse m;
  for (bool const one : store_ok) m.add_store_ok(one);
  set_node(m, node);
  return serialize(m);
}

Result<StoreResponse> StoreResponse::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::StoreResponse>(bytes, "StoreResponse"));
  WAGGLE_TRY(auto const node, get_node(m, "StoreResponse"));
  if (static_cast<std::size_t>(m.store_ok_size()) > kMaxStoreItems)
    return Error{
        Errc::too_large,
        cat("StoreResponse: ", m.store_ok_size(), " results, the limit is ", kMaxStoreItems)};
  return StoreResponse{node, {m.store_ok().begin(), m.store_ok().end()}};
}

Bytes FindRequest::encode() const {
  pb::FindRequest m;
  for (auto const& key : keys) m.add_keys(text(key.bytes));
  set_node(m, node);
  return serialize(m);
}

Result<FindRequest> FindRequest::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::FindRequest>(bytes, "FindRequest"));
  WAGGLE_TRY(auto const node, get_node(m, "FindRequest"));
  if (static_cast<std::size_t>(m.keys_size()) > kMaxFindKeys)
    return Error{Errc::too_large,
                 cat("FindRequest: ", m.keys_size(), " keys, the limit is ", kMaxFindKeys)};
  FindRequest out;
  out.node = node;
  for (auto const& raw : m.keys()) {
    WAGGLE_TRY(auto const key, key_id(raw, "FindRequest"));
    out.keys.push_back(key);
  }
  return out;
}

Bytes FindResponse::encode() const {
  Bytes out;
  for (auto const& result : results) append_result(out, result);
  Bytes peer;
  if (node) protobuf::append_field(peer, 1, ByteView(node->bytes));
  protobuf::append_field(out, kPeer, ByteView(peer));
  return out;
}

Result<FindResponse> FindResponse::decode(ByteView bytes) {
  FindResponse out;
  ByteView node;
  protobuf::FieldReader reader(bytes);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    if (field->is(kResults, Wire::bytes)) {
      if (out.results.size() == kMaxFindKeys)
        return Error{Errc::too_large, cat("FindResponse: the limit is ", kMaxFindKeys, " results")};
      WAGGLE_TRY(auto result, decode_result(field->bytes));
      out.results.push_back(std::move(result));
    }
    if (!field->is(kPeer, Wire::bytes)) continue;
    protobuf::FieldReader peer(field->bytes);
    for (;;) {
      WAGGLE_TRY(auto const inner, peer.next());
      if (!inner) break;
      if (inner->is(1, Wire::bytes)) node = inner->bytes;
    }
  }
  if (node.empty()) return out;
  out.node = Id::from_wire(node);
  if (!out.node) return malformed("FindResponse", cat("a node id of ", node.size(), " bytes"));
  return out;
}

}  // namespace waggle::dht
