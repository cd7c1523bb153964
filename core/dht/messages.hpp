// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/dht/routing_table.hpp"

/// The DHT's calls as values, and their exact bytes. Decoding validates: what comes out is within
/// the named limits. Pure. Source: spec/hivemind-dht.md sections 10 and 11.
namespace waggle::dht {

/// Most items of one store call that are looked at: a message of 4 MiB holds 40,000 empty ones.
constexpr std::size_t kMaxStoreItems = 20'000;
/// Most keys of one find call: each costs a walk over the table and 1.3 KB of answer. hivemind asks
/// for 16.
constexpr std::size_t kMaxFindKeys = 1'000;
/// Neighbours beyond these are dropped from an answer. hivemind sends 20.
constexpr std::size_t kMaxNeighbours = 100;
/// Answers stay below this: hivemind refuses larger messages than 4 MiB.
constexpr std::size_t kMaxAnswerBytes = (4u << 20) - (64u << 10);

struct PingRequest {
  std::optional<Id> node;  ///< the sender's; none: a client, not for our table
  bool validate = false;
  [[nodiscard]] Bytes encode() const;
  [[nodiscard]] static Result<PingRequest> decode(ByteView bytes);
};

struct PingResponse {
  std::optional<Id> node;
  double dht_time = 0;
  bool available = false;
  [[nodiscard]] Bytes encode() const;
  [[nodiscard]] static Result<PingResponse> decode(ByteView bytes);
};

struct StoreItem {
  Id key;
  Bytes tag;  ///< c0: regular value; empty: whole dictionary; else the subkey
  Bytes value;
  double expiration = 0;
  bool in_cache = false;
  friend bool operator==(StoreItem const&, StoreItem const&) = default;
};

struct StoreRequest {
  std::optional<Id> node;
  std::vector<StoreItem> items;
  [[nodiscard]] Bytes encode() const;
  /// Errors: malformed (lists of different lengths), too_large. Missing subkeys cut the list, as in
  /// hivemind.
  [[nodiscard]] static Result<StoreRequest> decode(ByteView bytes);
};

struct StoreResponse {
  std::optional<Id> node;
  std::vector<bool> store_ok;
  [[nodiscard]] Bytes encode() const;
  [[nodiscard]] static Result<StoreResponse> decode(ByteView bytes);
};

struct FindRequest {
  std::optional<Id> node;
  std::vector<Id> keys;
  [[nodiscard]] Bytes encode() const;
  [[nodiscard]] static Result<FindRequest> decode(ByteView bytes);
};

struct FindResult {
  /// Wire-stable.
  enum class Type : std::uint8_t { not_found = 0, regular = 1, dictionary = 2 };
  Type type = Type::not_found;
  Bytes value;
  double expiration = 0;
  std::vector<Contact> nearest;  ///< nearest first
};

struct FindResponse {
  std::optional<Id> node;
  std::vector<FindResult> results;
  [[nodiscard]] Bytes encode() const;
  /// Neighbour lists are cut to the shorter of ids and peers; a neighbour that is none is left out.
  [[nodiscard]] static Result<FindResponse> decode(ByteView bytes);
};

}  // namespace waggle::dht
