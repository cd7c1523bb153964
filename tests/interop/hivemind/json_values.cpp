// SPDX-License-Identifier: MIT
#include "tests/interop/hivemind/json_values.hpp"

#include <cstring>

#include "core/base/file.hpp"

namespace waggle::interop {

using nlohmann::json;
using wire::Msgpack;

Result<Msgpack> to_msgpack(json const& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      return Msgpack(value.get<bool>());
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      return Msgpack(value.get<std::int64_t>());
    case json::value_t::number_float:
      return Msgpack(value.get<double>());
    case json::value_t::string:
      return Msgpack(value.get<std::string>());
    case json::value_t::array: {
      Msgpack::Array items;
      for (auto const& item : value) {
        WAGGLE_TRY(auto decoded, to_msgpack(item));
        items.push_back(std::move(decoded));
      }
      return Msgpack(std::move(items));
    }
    case json::value_t::object: {
      if (value.size() == 1 && value.contains("hex")) {
        WAGGLE_TRY(auto bytes, from_hex(value["hex"].get<std::string>()));
        return Msgpack(std::move(bytes));
      }
      Msgpack::Map map;
      for (auto const& [key, item] : value.items()) {
        WAGGLE_TRY(auto decoded, to_msgpack(item));
        map.emplace_back(key, std::move(decoded));
      }
      return Msgpack(std::move(map));
    }
    default:
      return Msgpack();
  }
}

json to_json(Msgpack const& value) {
  if (value.is_nil()) return nullptr;
  if (auto const* b = value.get<bool>()) return *b;
  if (auto const* i = value.get<std::int64_t>()) return *i;
  if (auto const* u = value.get<std::uint64_t>()) return *u;
  if (auto const* d = value.get<double>()) return *d;
  if (auto const* text = value.get<std::string>()) return *text;
  if (auto const* bytes = value.get<Bytes>()) return {{"hex", to_hex(*bytes)}};
  if (auto const* map = value.get<Msgpack::Map>()) {
    json out = json::object();
    for (auto const& [key, item] : *map) {
      auto const* const text = key.get<std::string>();
      out[text != nullptr ? *text : to_json(key).dump()] = to_json(item);
    }
    return out;
  }
  auto const items = value.items();
  if (!items) return {{"ext", "unknown"}};
  json out = json::array();
  for (auto const& item : *items) out.push_back(to_json(item));
  return out;
}

averaging::Schema to_schema(json const& shapes) {
  averaging::Schema schema;
  for (auto const& shape : shapes)
    schema.push_back({shape.get<std::vector<std::int64_t>>(), false});
  return schema;
}

Result<std::vector<float>> read_values(std::filesystem::path const& file) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  WAGGLE_TRY(auto const bytes, read_file(file, kMost));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

Status write_values(std::filesystem::path const& file, std::vector<float> const& values) {
  return write_file(file, std::as_bytes(std::span(values)), FileMode::shared);
}

}  // namespace waggle::interop
