// SPDX-License-Identifier: MIT
#include "core/net/mdns/message.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace waggle::net::mdns {
namespace {

constexpr std::uint16_t kResponse = 0x8400;  // QR and AA, as RFC 6762 section 18 wants
constexpr std::uint16_t kResponseBit = 0x8000;
constexpr std::uint16_t kOpcodeAndCode = 0x780F;
constexpr std::uint16_t kInternet = 1;
constexpr std::uint16_t kCacheFlush = 0x8000;  // in a class: not ours to mind
constexpr std::size_t kHeader = 12;
constexpr std::uint8_t kPointer = 0xC0;

Error broken(std::size_t at, std::string_view what) {
  return Error{Errc::malformed, cat("DNS message, byte ", at, ": ", what)};
}

struct Reader {
  ByteView all;
  std::size_t at = 0;

  template <class T>
  Result<T> number() {
    if (all.size() - at < sizeof(T)) return broken(at, "it ends too early");
    auto const value = load_be<T>(all.subspan(at));
    at += sizeof(T);
    return value;
  }

  Result<std::string> text(std::size_t size) {
    if (all.size() - at < size) return broken(at, "it ends within a text");
    auto const out = to_string(all.subspan(at, size));
    at += size;
    return out;
  }

  // Each pointer must lead in front of everything read of this name so far.
  Result<Name> name() {
    Name labels;
    std::size_t total = 1;
    std::size_t back = 0;    // where reading goes on, once a pointer was followed
    std::size_t bound = at;  // a pointer leads below it
    for (;;) {
      WAGGLE_TRY(auto const size, number<std::uint8_t>());
      if (size == 0) break;
      if ((size & kPointer) == kPointer) {
        WAGGLE_TRY(auto const low, number<std::uint8_t>());
        auto const target = static_cast<std::size_t>(size & ~kPointer) << 8 | low;
        if (target >= bound || target < kHeader)
          return broken(at - 2, "a name's pointer does not lead backwards");
        if (back == 0) back = at;
        at = bound = target;
        continue;
      }
      if (size > Message::kMaxLabel) return broken(at - 1, "a label of an unknown kind");
      WAGGLE_TRY(auto label, text(size));
      total += size + 1;
      if (total > Message::kMaxName)
        return Error{Errc::too_large,
                     cat("DNS name of ", total, " bytes, at most ", Message::kMaxName)};
      labels.push_back(std::move(label));
    }
    if (back != 0) at = back;
    return labels;
  }

  Result<Question> question() {
    Question out;
    WAGGLE_TRY(out.name, name());
    WAGGLE_TRY(out.type, number<std::uint16_t>());
    WAGGLE_TRY_STATUS(number<std::uint16_t>());
    return out;
  }

  Status record(std::vector<Record>& into) {
    Record out;
    WAGGLE_TRY(out.name, name());
    WAGGLE_TRY(auto const type, number<std::uint16_t>());
    WAGGLE_TRY(auto const kind, number<std::uint16_t>());
    WAGGLE_TRY(out.ttl, number<std::uint32_t>());
    WAGGLE_TRY(auto const size, number<std::uint16_t>());
    if (all.size() - at < size) return broken(at, "it ends within a record");
    auto const end = at + size;
    out.type = static_cast<Type>(type);
    bool const ours = (kind & ~kCacheFlush) == kInternet;
    if (ours && out.type == Type::ptr) {
      WAGGLE_TRY(out.target, name());
      if (at != end) return broken(at, "a PTR record of another size than its name");
      into.push_back(std::move(out));
    } else if (ours && out.type == Type::txt) {
      while (at < end) {
        WAGGLE_TRY(auto const length, number<std::uint8_t>());
        if (end - at < length) return broken(at, "a text beyond the end of its record");
        WAGGLE_TRY(auto words, text(length));
        out.texts.push_back(std::move(words));
      }
      into.push_back(std::move(out));
    }
    at = end;
    return ok();
  }
};

template <class T>
void put(Bytes& out, T value) {
  std::array<std::byte, sizeof(T)> raw;
  store_be(raw, value);
  append(out, raw);
}

Status put_text(Bytes& out, std::string_view text, std::size_t most, std::string_view what) {
  if (text.size() > most)
    return Error{Errc::too_large, cat("DNS ", what, " of ", text.size(), " bytes, at most ", most)};
  out.push_back(static_cast<std::byte>(text.size()));
  append(out, as_bytes(text));
  return ok();
}

Status put_name(Bytes& out, Name const& name) {
  auto const begin = out.size();
  for (auto const& label : name) {
    if (label.empty()) return Error{Errc::invalid, "DNS name: an empty label"};
    WAGGLE_TRY_STATUS(put_text(out, label, Message::kMaxLabel, "label"));
  }
  out.push_back(std::byte{0});
  if (auto const size = out.size() - begin; size > Message::kMaxName)
    return Error{Errc::too_large, cat("DNS name of ", size, " bytes, at most ", Message::kMaxName)};
  return ok();
}

Status put_record(Bytes& out, Record const& record) {
  WAGGLE_TRY_STATUS(put_name(out, record.name));
  put(out, static_cast<std::uint16_t>(record.type));
  put(out, kInternet);
  put(out, record.ttl);
  auto const size_at = out.size();
  put(out, std::uint16_t{0});
  if (record.type == Type::ptr) WAGGLE_TRY_STATUS(put_name(out, record.target));
  if (record.type == Type::txt)
    for (auto const& text : record.texts)
      WAGGLE_TRY_STATUS(put_text(out, text, Message::kMaxText, "text"));
  auto const size = out.size() - size_at - sizeof(std::uint16_t);
  if (size > Message::kMaxBytes)
    return Error{Errc::too_large,
                 cat("DNS record of ", size, " bytes, at most ", Message::kMaxBytes)};
  store_be(MutableBytes(out).subspan(size_at), static_cast<std::uint16_t>(size));
  return ok();
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

Name name_of(std::string_view dotted) {
  Name name;
  while (!dotted.empty()) {
    auto const dot = dotted.find('.');
    name.emplace_back(dotted.substr(0, dot));
    dotted.remove_prefix(dot == std::string_view::npos ? dotted.size() : dot + 1);
  }
  return name;
}

bool same(Name const& a, Name const& b) noexcept {
  return std::ranges::equal(a, b, [](std::string const& one, std::string const& other) {
    return std::ranges::equal(one, other, {}, lower, lower);
  });
}

Result<Bytes> Message::encode() const {
  auto const entries = questions.size() + answers.size() + additional.size();
  if (entries > kMaxEntries)
    return Error{Errc::too_large,
                 cat("DNS message of ", entries, " entries, at most ", kMaxEntries)};
  Bytes out;
  put(out, std::uint16_t{0});  // no id: answers go to everybody
  put(out, response ? kResponse : std::uint16_t{0});
  put(out, static_cast<std::uint16_t>(questions.size()));
  put(out, static_cast<std::uint16_t>(answers.size()));
  put(out, std::uint16_t{0});
  put(out, static_cast<std::uint16_t>(additional.size()));
  for (auto const& question : questions) {
    WAGGLE_TRY_STATUS(put_name(out, question.name));
    put(out, question.type);
    put(out, kInternet);
  }
  for (auto const& record : answers) WAGGLE_TRY_STATUS(put_record(out, record));
  for (auto const& record : additional) WAGGLE_TRY_STATUS(put_record(out, record));
  return out;
}

Result<Message> Message::decode(ByteView bytes) {
  if (bytes.size() > kMaxBytes)
    return Error{Errc::too_large,
                 cat("DNS message of ", bytes.size(), " bytes, at most ", kMaxBytes)};
  Reader in{bytes};
  Message out;
  WAGGLE_TRY_STATUS(in.number<std::uint16_t>());
  WAGGLE_TRY(auto const flags, in.number<std::uint16_t>());
  if ((flags & kOpcodeAndCode) != 0) return broken(2, "neither a query nor its answer");
  out.response = (flags & kResponseBit) != 0;
  WAGGLE_TRY(std::size_t const asked, in.number<std::uint16_t>());
  std::size_t records = 0;
  for (int section = 0; section < 3; ++section) {
    WAGGLE_TRY(auto const count, in.number<std::uint16_t>());
    records += count;
  }
  if (asked + records > kMaxEntries)
    return Error{Errc::too_large,
                 cat("DNS message of ", asked + records, " entries, at most ", kMaxEntries)};
  for (std::size_t i = 0; i < asked; ++i) {
    WAGGLE_TRY(auto question, in.question());
    out.questions.push_back(std::move(question));
  }
  for (std::size_t i = 0; i < records; ++i) WAGGLE_TRY_STATUS(in.record(out.answers));
  return out;
}

}  // namespace waggle::net::mdns
