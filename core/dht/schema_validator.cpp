// SPDX-License-Identifier: MIT
#include "core/dht/schema_validator.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/dht/marks.hpp"
#include "core/dht/value.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::dht {
namespace {

using wire::Msgpack;

Error refused(std::string_view key, std::string_view what) {
  return Error{Errc::refused, cat("schema of ", key, ": ", what)};
}

template <class Number>
bool in_range(Number value, bool not_negative) {
  return !not_negative || value >= 0;
}

bool matches(Msgpack const& value, FieldType type, bool not_negative) {
  switch (type) {
    case FieldType::integer: {
      if (auto const* n = value.get<std::int64_t>()) return in_range(*n, not_negative);
      return value.get<std::uint64_t>() != nullptr;
    }
    case FieldType::real: {
      auto const* x = value.get<double>();
      return x && std::isfinite(*x) && in_range(*x, not_negative);
    }
    case FieldType::boolean:
      return value.get<bool>() != nullptr;
    case FieldType::text:
      return value.get<std::string>() != nullptr;
    case FieldType::bytes:
      return value.get<Bytes>() != nullptr;
  }
  return false;
}

/// hivemind's pattern: on the first line an opening, at least one character, and a ']'.
bool holds_owner_mark(ByteView subkey) {
  auto line = as_text(subkey);
  line = line.substr(0, line.find('\n'));
  auto const opening = line.find(kOwnerOpening);
  auto const closing = line.rfind(']');
  return opening != std::string_view::npos && closing != std::string_view::npos &&
         closing > opening + kOwnerOpening.size();
}

Status check_map(KeySchema const& schema, Msgpack const& value) {
  auto const* map = value.get<Msgpack::Map>();
  if (!map) return refused(schema.key, "the value is no map");
  if (map->size() != schema.fields.size())
    return refused(schema.key,
                   cat("the map has ", map->size(), " fields instead of ", schema.fields.size()));
  for (auto const& field : schema.fields) {
    auto const* found = value.find(field.name);
    if (!found) return refused(schema.key, cat("field ", field.name, " is missing"));
    if (!matches(*found, field.type, field.not_negative))
      return refused(schema.key, cat("field ", field.name, " has a wrong type or range"));
  }
  return ok();
}

}  // namespace

SchemaValidator::SchemaValidator(std::vector<KeySchema> keys, bool allow_other_keys)
    : allow_other_keys_(allow_other_keys) {
  for (auto& schema : keys) {
    Id const id = Id::of_text(schema.key);
    keys_.insert_or_assign(id, std::move(schema));
  }
}

Status SchemaValidator::validate(RecordView const& record) const {
  auto const it = keys_.find(record.key);
  if (it == keys_.end())
    return allow_other_keys_ ? ok() : Status(Error{Errc::refused, "the key is in no schema"});
  auto const& schema = it->second;
  if (record.value.size() > kMaxValueBytes)
    return refused(
        schema.key,
        cat("the value has ", record.value.size(), " bytes, the limit is ", kMaxValueBytes));
  bool const regular = is_regular_tag(record.subkey);
  if (regular == schema.dictionary)
    return refused(schema.key,
                   schema.dictionary ? "a regular value instead of an entry"
                                     : "an entry instead of a regular value");
  if (schema.dictionary) {
    WAGGLE_TRY(auto const subkey, Msgpack::decode(record.subkey));
    auto const* bytes = subkey.get<Bytes>();
    if (!bytes || !holds_owner_mark(*bytes))
      return refused(schema.key, "the subkey is no bytes with an owner mark");
  }
  WAGGLE_TRY(auto const value, Msgpack::decode(record.value));
  if (value.is_nil() && schema.nil_allowed) return ok();
  if (!schema.plain) return check_map(schema, value);
  if (!matches(value, *schema.plain, false))
    return refused(schema.key, "the value has a wrong type");
  return ok();
}

KeySchema progress_schema(std::string_view prefix) {
  return {cat(prefix, "_progress"),
          true,
          true,
          {{"peer_id", FieldType::bytes},
           {"epoch", FieldType::integer, true},
           {"samples_accumulated", FieldType::integer, true},
           {"samples_per_second", FieldType::real, true},
           {"time", FieldType::real},
           {"client_mode", FieldType::boolean}},
          std::nullopt};
}

KeySchema metrics_schema(std::string_view prefix) {
  return {cat(prefix, "_metrics"),
          true,
          false,
          {{"step", FieldType::integer, true},
           {"samples_per_second", FieldType::real, true},
           {"samples_accumulated", FieldType::integer, true},
           {"loss", FieldType::real},
           {"mini_steps", FieldType::integer, true}},
          std::nullopt};
}

}  // namespace waggle::dht
