// SPDX-License-Identifier: MIT
#include "core/wire/msgpack.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "core/base/assert.hpp"
#include "core/wire/utf8.hpp"

namespace waggle::wire {
namespace {

// A count says nothing until its items have come: this much is reserved on its word alone. Larger
// would let a few nested headers claim memory many times the message's size.
constexpr std::size_t kTrustedCount = 16;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("msgpack: ", what)};
}

class Reader {
 public:
  explicit Reader(ByteView in) : in_(in) {}

  [[nodiscard]] bool empty() const noexcept { return in_.empty(); }

  Result<Msgpack> value(std::size_t depth) {
    WAGGLE_TRY(auto const head, number<std::uint8_t>());
    if (head <= 0x7f) return Msgpack(std::int64_t{head});
    if (head <= 0x8f) return map(head & 0x0f, depth);
    if (head <= 0x9f) return array(head & 0x0f, depth);
    if (head <= 0xbf) return text(head & 0x1f);
    if (head >= 0xe0) return Msgpack(std::int64_t{static_cast<std::int8_t>(head)});
    return long_form(head, depth);
  }

 private:
  Result<Msgpack> long_form(std::uint8_t head, std::size_t depth) {
    switch (head) {
      case 0xc0:
        return Msgpack(Msgpack::Nil{});
      case 0xc2:
        return Msgpack(false);
      case 0xc3:
        return Msgpack(true);
      case 0xc4:
        return counted<std::uint8_t>(&Reader::bin);
      case 0xc5:
        return counted<std::uint16_t>(&Reader::bin);
      case 0xc6:
        return counted<std::uint32_t>(&Reader::bin);
      case 0xc7:
        return counted<std::uint8_t>(&Reader::ext, depth);
      case 0xc8:
        return counted<std::uint16_t>(&Reader::ext, depth);
      case 0xc9:
        return counted<std::uint32_t>(&Reader::ext, depth);
      case 0xca:
        return floating<std::uint32_t, float>();
      case 0xcb:
        return floating<std::uint64_t, double>();
      case 0xcc:
        return integer<std::uint8_t>();
      case 0xcd:
        return integer<std::uint16_t>();
      case 0xce:
        return integer<std::uint32_t>();
      case 0xcf:
        return integer<std::uint64_t>();
      case 0xd0:
        return integer<std::uint8_t, std::int8_t>();
      case 0xd1:
        return integer<std::uint16_t, std::int16_t>();
      case 0xd2:
        return integer<std::uint32_t, std::int32_t>();
      case 0xd3:
        return integer<std::uint64_t, std::int64_t>();
      case 0xd4:
        return ext(1, depth);
      case 0xd5:
        return ext(2, depth);
      case 0xd6:
        return ext(4, depth);
      case 0xd7:
        return ext(8, depth);
      case 0xd8:
        return ext(16, depth);
      case 0xd9:
        return counted<std::uint8_t>(&Reader::text);
      case 0xda:
        return counted<std::uint16_t>(&Reader::text);
      case 0xdb:
        return counted<std::uint32_t>(&Reader::text);
      case 0xdc:
        return counted<std::uint16_t>(&Reader::array, depth);
      case 0xdd:
        return counted<std::uint32_t>(&Reader::array, depth);
      case 0xde:
        return counted<std::uint16_t>(&Reader::map, depth);
      case 0xdf:
        return counted<std::uint32_t>(&Reader::map, depth);
      default:
        return malformed("0xc1 starts no value");
    }
  }

  Result<ByteView> take(std::size_t n) {
    if (n > in_.size()) return malformed(cat(n, " bytes are announced, ", in_.size(), " are left"));
    auto const taken = in_.first(n);
    in_ = in_.subspan(n);
    return taken;
  }

  template <class U>
  Result<U> number() {
    WAGGLE_TRY(auto const raw, take(sizeof(U)));
    return load_be<U>(raw);
  }

  template <class U, class... Args>
  Result<Msgpack> counted(Result<Msgpack> (Reader::*read)(std::size_t, Args...), Args... args) {
    WAGGLE_TRY(auto const count, number<U>());
    return (this->*read)(count, args...);
  }

  template <class U, class I = U>
  Result<Msgpack> integer() {
    WAGGLE_TRY(auto const raw, number<U>());
    if constexpr (std::is_signed_v<I>)
      return Msgpack(std::int64_t{static_cast<I>(raw)});
    else
      return Msgpack(std::uint64_t{raw});
  }

  template <class U, class F>
  Result<Msgpack> floating() {
    WAGGLE_TRY(auto const raw, number<U>());
    return Msgpack(double{std::bit_cast<F>(raw)});
  }

  Result<Msgpack> text(std::size_t size) {
    WAGGLE_TRY(auto const raw, take(size));
    if (!is_utf8(as_text(raw))) return malformed("a text is not UTF-8");
    return Msgpack(as_text(raw));
  }

  Result<Msgpack> bin(std::size_t size) {
    WAGGLE_TRY(auto const raw, take(size));
    return Msgpack(to_bytes(raw));
  }

  Result<Msgpack> ext(std::size_t size, std::size_t depth) {
    WAGGLE_TRY(auto const type, number<std::uint8_t>());
    WAGGLE_TRY(auto const data, take(size));
    Msgpack::Ext made{static_cast<std::int8_t>(type), to_bytes(data)};
    // hivemind unpacks tuples at once, so one that does not unpack spoils the whole value.
    if (made.type == Msgpack::kTupleExt) WAGGLE_TRY_STATUS(check_tuple(data, depth));
    return Msgpack(std::move(made));
  }

  static Status check_tuple(ByteView data, std::size_t depth) {
    WAGGLE_TRY_STATUS(check_depth(depth));
    Reader inner(data);
    WAGGLE_TRY(auto const items, inner.value(depth + 1));
    if (!inner.empty() || items.get<Msgpack::Array>() == nullptr)
      return malformed("a tuple does not hold one array");
    return ok();
  }

  static Status check_depth(std::size_t depth) {
    if (depth >= Msgpack::kMaxDepth)
      return Error{Errc::too_large, cat("msgpack: nested deeper than ", Msgpack::kMaxDepth)};
    return ok();
  }

  Status check_count(std::size_t count, std::size_t bytes_an_item) const {
    if (count > in_.size() / bytes_an_item)
      return Error{
          Errc::too_large,
          cat("msgpack: ", count, " items are announced, ", in_.size(), " bytes are left")};
    return ok();
  }

  Result<Msgpack> array(std::size_t count, std::size_t depth) {
    WAGGLE_TRY_STATUS(check_depth(depth));
    WAGGLE_TRY_STATUS(check_count(count, 1));
    Msgpack::Array items;
    items.reserve(std::min(count, kTrustedCount));
    for (std::size_t i = 0; i < count; ++i) {
      WAGGLE_TRY(auto item, value(depth + 1));
      items.push_back(std::move(item));
    }
    return Msgpack(std::move(items));
  }

  Result<Msgpack> map(std::size_t count, std::size_t depth) {
    WAGGLE_TRY_STATUS(check_depth(depth));
    WAGGLE_TRY_STATUS(check_count(count, 2));
    Msgpack::Map entries;
    entries.reserve(std::min(count, kTrustedCount));
    for (std::size_t i = 0; i < count; ++i) {
      WAGGLE_TRY(auto key, value(depth + 1));
      if (key.get<std::string>() == nullptr && key.get<Bytes>() == nullptr)
        return malformed("a map's key is neither text nor bytes");
      WAGGLE_TRY(auto item, value(depth + 1));
      entries.emplace_back(std::move(key), std::move(item));
    }
    return Msgpack(std::move(entries));
  }

  ByteView in_;
};

void put(Bytes& out, unsigned head) {
  out.push_back(static_cast<std::byte>(head));
}

template <class U>
void put_number(Bytes& out, unsigned head, U value) {
  put(out, head);
  auto const at = out.size();
  out.resize(at + sizeof(U));
  store_be(MutableBytes(out).subspan(at), value);
}

void put_unsigned(Bytes& out, std::uint64_t value) {
  if (value <= 0x7f)
    put(out, static_cast<unsigned>(value));
  else if (value <= 0xff)
    put_number(out, 0xcc, static_cast<std::uint8_t>(value));
  else if (value <= 0xffff)
    put_number(out, 0xcd, static_cast<std::uint16_t>(value));
  else if (value <= 0xffffffff)
    put_number(out, 0xce, static_cast<std::uint32_t>(value));
  else
    put_number(out, 0xcf, value);
}

void put_signed(Bytes& out, std::int64_t value) {
  if (value >= 0) return put_unsigned(out, static_cast<std::uint64_t>(value));
  if (value >= -32)
    put(out, static_cast<std::uint8_t>(value));
  else if (value >= std::numeric_limits<std::int8_t>::min())
    put_number(out, 0xd0, static_cast<std::uint8_t>(value));
  else if (value >= std::numeric_limits<std::int16_t>::min())
    put_number(out, 0xd1, static_cast<std::uint16_t>(value));
  else if (value >= std::numeric_limits<std::int32_t>::min())
    put_number(out, 0xd2, static_cast<std::uint32_t>(value));
  else
    put_number(out, 0xd3, static_cast<std::uint64_t>(value));
}

// The three long heads follow each other: one, two and four bytes of count.
void put_count(Bytes& out, unsigned head8, std::size_t count) {
  WAGGLE_ASSERT(count <= 0xffffffff, "msgpack counts to 2^32 - 1, not to ", count);
  if (count <= 0xff)
    put_number(out, head8, static_cast<std::uint8_t>(count));
  else if (count <= 0xffff)
    put_number(out, head8 + 1, static_cast<std::uint16_t>(count));
  else
    put_number(out, head8 + 2, static_cast<std::uint32_t>(count));
}

// Arrays and maps have no one-byte count: `head16` is preceded by the fix form.
void put_items(Bytes& out, unsigned fix, unsigned head16, std::size_t count) {
  WAGGLE_ASSERT(count <= 0xffffffff, "msgpack counts to 2^32 - 1, not to ", count);
  if (count <= 0x0f)
    put(out, fix | static_cast<unsigned>(count));
  else if (count <= 0xffff)
    put_number(out, head16, static_cast<std::uint16_t>(count));
  else
    put_number(out, head16 + 1, static_cast<std::uint32_t>(count));
}

struct Writer {
  Bytes& out;

  void operator()(Msgpack::Nil) const { put(out, 0xc0); }

  void operator()(bool value) const { put(out, value ? 0xc3 : 0xc2); }

  void operator()(std::int64_t value) const { put_signed(out, value); }

  void operator()(std::uint64_t value) const { put_unsigned(out, value); }

  void operator()(double value) const {
    put_number(out, 0xcb, std::bit_cast<std::uint64_t>(value));
  }

  void operator()(std::string const& text) const {
    if (text.size() <= 31)
      put(out, 0xa0 | static_cast<unsigned>(text.size()));
    else
      put_count(out, 0xd9, text.size());
    append(out, as_bytes(text));
  }

  void operator()(Bytes const& bin) const {
    put_count(out, 0xc4, bin.size());
    append(out, bin);
  }

  void operator()(Msgpack::Array const& items) const {
    put_items(out, 0x90, 0xdc, items.size());
    for (auto const& item : items) std::visit(*this, item.value());
  }

  void operator()(Msgpack::Map const& entries) const {
    put_items(out, 0x80, 0xde, entries.size());
    for (auto const& [key, item] : entries) {
      std::visit(*this, key.value());
      std::visit(*this, item.value());
    }
  }

  void operator()(Msgpack::Ext const& ext) const {
    auto const size = ext.data.size();
    if (std::has_single_bit(size) && size <= 16)
      put(out, 0xd4 + static_cast<unsigned>(std::countr_zero(size)));
    else
      put_count(out, 0xc7, size);
    put(out, static_cast<std::uint8_t>(ext.type));
    append(out, ext.data);
  }
};

}  // namespace

Msgpack::Msgpack(std::uint64_t u) {
  if (u >> 63 == 0)
    value_ = static_cast<std::int64_t>(u);
  else
    value_ = u;
}

Msgpack Msgpack::tuple(Array items) {
  return Ext{kTupleExt, Msgpack(std::move(items)).encode()};
}

Result<Msgpack> Msgpack::decode(ByteView bytes) {
  Reader reader(bytes);
  WAGGLE_TRY(auto value, reader.value(0));
  if (!reader.empty()) return malformed("bytes follow the value");
  return value;
}

Bytes Msgpack::encode() const {
  Bytes out;
  std::visit(Writer{out}, value_);
  return out;
}

std::optional<std::int64_t> Msgpack::integer() const noexcept {
  auto const* const value = get<std::int64_t>();
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<double> Msgpack::number() const noexcept {
  if (auto const* const d = get<double>()) return *d;
  if (auto const* const i = get<std::int64_t>()) return static_cast<double>(*i);
  if (auto const* const u = get<std::uint64_t>()) return static_cast<double>(*u);
  return std::nullopt;
}

Result<Msgpack::Array> Msgpack::items() const {
  if (auto const* const array = get<Array>()) return *array;
  auto const* const ext = get<Ext>();
  if (ext == nullptr || ext->type != kTupleExt) return malformed("neither a tuple nor an array");
  WAGGLE_TRY(auto inner, decode(ext->data));
  if (inner.get<Array>() == nullptr) return malformed("a tuple does not hold one array");
  return std::move(std::get<Array>(inner.value_));
}

Msgpack const* Msgpack::find(std::string_view key) const noexcept {
  auto const* const map = get<Map>();
  if (map == nullptr) return nullptr;
  // Python keeps the last of equal keys.
  auto const found = std::find_if(map->rbegin(), map->rend(), [&](auto const& entry) {
    auto const* const text = entry.first.template get<std::string>();
    return text != nullptr && *text == key;
  });
  return found != map->rend() ? &found->second : nullptr;
}

}  // namespace waggle::wire
