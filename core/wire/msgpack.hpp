// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/bytes.hpp"

namespace waggle::wire {

/// One msgpack value in hivemind's profile: shortest forms, float64 only, tuples as ext 0x40.
/// Maps keep their order, because key ids and signatures depend on the exact bytes.
/// Source: spec/hivemind-dht.md section 9.
class Msgpack {
 public:
  struct Nil {
    friend bool operator==(Nil, Nil) = default;
  };

  struct Ext {
    std::int8_t type;
    Bytes data;
    friend bool operator==(Ext const&, Ext const&) = default;
  };

  using Array = std::vector<Msgpack>;
  using Map = std::vector<std::pair<Msgpack, Msgpack>>;
  /// int64 holds every integer below 2^63, uint64 only those from there on.
  using Variant = std::
      variant<Nil, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, Array, Map, Ext>;

  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::int8_t kTupleExt = 0x40;

  Msgpack() = default;

  Msgpack(Nil) {}  // NOLINT

  Msgpack(bool b) : value_(b) {}  // NOLINT

  Msgpack(int i) : value_(static_cast<std::int64_t>(i)) {}  // NOLINT

  Msgpack(std::int64_t i) : value_(i) {}  // NOLINT

  Msgpack(std::uint64_t u);  // NOLINT

  Msgpack(double d) : value_(d) {}  // NOLINT

  Msgpack(char const* text) : value_(std::string(text)) {}  // NOLINT

  Msgpack(std::string_view text) : value_(std::string(text)) {}  // NOLINT

  Msgpack(std::string text) : value_(std::move(text)) {}  // NOLINT

  Msgpack(Bytes bin) : value_(std::move(bin)) {}  // NOLINT

  Msgpack(Array array) : value_(std::move(array)) {}  // NOLINT

  Msgpack(Map map) : value_(std::move(map)) {}  // NOLINT

  Msgpack(Ext ext) : value_(std::move(ext)) {}  // NOLINT

  /// A Python tuple: ext 0x40 around the array's bytes.
  [[nodiscard]] static Msgpack tuple(Array items);

  /// Decodes exactly one value. Errors: malformed (trailing bytes, bad form), too_large (deeper
  /// than kMaxDepth, a count that the remaining bytes cannot hold).
  [[nodiscard]] static Result<Msgpack> decode(ByteView bytes);
  [[nodiscard]] Bytes encode() const;

  [[nodiscard]] Variant const& value() const noexcept { return value_; }

  /// Null unless the value has exactly this type.
  template <class T>
  [[nodiscard]] T const* get() const noexcept {
    return std::get_if<T>(&value_);
  }

  [[nodiscard]] bool is_nil() const noexcept { return std::holds_alternative<Nil>(value_); }

  /// An integer as int64, nothing for other types or above its range.
  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  /// A float or an integer as double.
  [[nodiscard]] std::optional<double> number() const noexcept;
  /// The items of a tuple (ext 0x40) or an array. Errors: malformed.
  [[nodiscard]] Result<Array> items() const;
  /// The value under a text key of a map; null if absent or if this is no map.
  [[nodiscard]] Msgpack const* find(std::string_view key) const noexcept;

  friend bool operator==(Msgpack const&, Msgpack const&) = default;

 private:
  Variant value_;
};

}  // namespace waggle::wire
