// SPDX-License-Identifier: MIT
#include "core/dht/messages.hpp"

#include <algorithm>

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

FindResult decode_result(pb::FindResult const& in) {
  FindResult out;
  if (in.type() == pb::FOUND_REGULAR) out.type = FindResult::Type::regular;
  if (in.type() == pb::FOUND_DICTIONARY) out.type = FindResult::Type::dictionary;
  out.value = to_bytes(in.value());
  out.expiration = in.expiration_time();
  int const n = std::min(
      {in.nearest_node_ids_size(), in.nearest_peer_ids_size(), static_cast<int>(kMaxNeighbours)});
  out.nearest.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    auto const id = Id::from_wire(as_bytes(in.nearest_node_ids(i)));
    auto const peer = PeerId::from_bytes(as_bytes(in.nearest_peer_ids(i)));
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
  pb::FindResponse m;
  for (auto const& result : results) {
    auto* const r = m.add_results();
    r->set_type(static_cast<pb::ResultType>(result.type));
    r->set_value(text(result.value));
    r->set_expiration_time(result.expiration);
    for (auto const& contact : result.nearest) {
      r->add_nearest_node_ids(text(contact.id.bytes));
      r->add_nearest_peer_ids(text(contact.peer.bytes()));
    }
  }
  set_node(m, node);
  return serialize(m);
}

Result<FindResponse> FindResponse::decode(ByteView bytes) {
  WAGGLE_TRY(auto const m, parse<pb::FindResponse>(bytes, "FindResponse"));
  WAGGLE_TRY(auto const node, get_node(m, "FindResponse"));
  if (static_cast<std::size_t>(m.results_size()) > kMaxFindKeys)
    return Error{Errc::too_large,
                 cat("FindResponse: ", m.results_size(), " results, the limit is ", kMaxFindKeys)};
  FindResponse out;
  out.node = node;
  for (auto const& result : m.results()) out.results.push_back(decode_result(result));
  return out;
}

}  // namespace waggle::dht
