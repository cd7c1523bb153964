// SPDX-License-Identifier: MIT
#include "core/node/report/redact.hpp"

#include <algorithm>

#include <arpa/inet.h>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kPeerIdAtLeast = 40;  // "Qm…" has 46 letters, "12D3KooW…" 52
constexpr std::size_t kLongHex = 32;
constexpr std::size_t kLongBase64 = 40;
constexpr std::size_t kFirstFolder = 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// What a name goes on with; bytes of UTF-8 belong to words.
bool is_word(char c) {
  return is_digit(c) || is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

template <class F>
std::size_t run(std::string_view text, std::size_t at, F belongs) {
  std::size_t end = at;
  while (end < text.size() && belongs(text[end])) ++end;
  return end - at;
}

// The length of a dotted IPv4 address that begins at `at`; 0: none.
std::size_t ipv4(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (end >= text.size() || text[end] != '.') return 0;
      ++end;
    }
    auto const digits = run(text, end, is_digit);
    if (digits == 0 || digits > 3) return 0;
    int value = 0;
    for (char const c : text.substr(end, digits)) value = 10 * value + (c - '0');
    if (value > 255) return 0;
    end += digits;
  }
  return end - at;
}

// The length of an IPv6 address that begins at `at`; 0: none. In links ":" is "%3A".
std::size_t ipv6(std::string_view text, std::size_t at, std::string& plain) {
  plain.clear();
  std::size_t end = at;
  int colons = 0;
  while (end < text.size()) {
    bool const encoded = text.substr(end, 3) == "%3A" || text.substr(end, 3) == "%3a";
    if (text[end] == ':' || encoded) {
      ++colons;
      plain += ':';
      end += encoded ? 3 : 1;
    } else if (is_hex(text[end]) || text[end] == '.') {
      plain += text[end++];
    } else {
      break;
    }
  }
  in6_addr address{};
  // Whatever ends a sentence or begins a port is no part of it.
  while (!plain.empty() && colons >= 2) {
    if (::inet_pton(AF_INET6, plain.c_str(), &address) == 1) {
      // "a::b" is an address too, but a name in a program far more often.
      bool const tells = plain == "::" || std::any_of(plain.begin(), plain.end(), is_digit);
      return tells ? end - at : 0;
    }
    if (plain.back() != ':' && plain.back() != '.') return 0;
    bool const encoded = plain.back() == ':' && text[end - 1] != ':';
    colons -= plain.back() == ':' ? 1 : 0;
    plain.pop_back();
    end -= encoded ? 3 : 1;
  }
  return 0;
}

bool is_nobodys(std::string_view ip) {
  return ip.substr(0, 4) == "127." || ip == "0.0.0.0" || ip == "::" || ip == "::1";
}

bool is_base58(char c) {
  return (is_digit(c) && c != '0') || (is_letter(c) && c != 'I' && c != 'O' && c != 'l');
}

std::size_t peer_id(std::string_view text, std::size_t at) {
  auto const rest = text.substr(at);
  if (rest.substr(0, 8) != "12D3KooW" && rest.substr(0, 2) != "Qm") return 0;
  auto const length = run(text, at, is_base58);
  return length >= kPeerIdAtLeast ? length : 0;
}

bool is_base64(char c) {
  return is_digit(c) || is_letter(c) || c == '+' || c == '/' || c == '_' || c == '-';
}

// A run that mixes digits, small and capital letters, and is no path: a key rather than a name.
std::size_t long_base64(std::string_view text, std::size_t at) {
  auto const length = run(text, at, is_base64);
  if (length < kLongBase64) return 0;
  auto const part = text.substr(at, length);
  auto const any = [&](auto test) { return std::any_of(part.begin(), part.end(), test); };
  bool const mixed = any(is_digit) && any([](char c) { return c >= 'a' && c <= 'z'; }) &&
                     any([](char c) { return c >= 'A' && c <= 'Z'; });
  // A path has a slash every few letters, soon the first; so has no random text of this length. One
  // that begins so is looked at again behind its slash.
  auto const slashes = static_cast<std::size_t>(std::count(part.begin(), part.end(), '/'));
  if (!mixed || slashes * 16 > length || part.find('/') < kFirstFolder) return 0;
  return length + run(text, at + length, [](char c) { return c == '='; });
}

std::size_t email(std::string_view text, std::size_t at) {
  auto const in_name = [](char c) {
    return is_digit(c) || is_letter(c) ||
           std::string_view("._%+-").find(c) != std::string_view::npos;
  };
  auto const name = run(text, at, in_name);
  if (name == 0 || at + name >= text.size() || text[at + name] != '@') return 0;
  auto const domain = run(text, at + name + 1, [](char c) {
    return is_digit(c) || is_letter(c) || c == '.' || c == '-';
  });
  return domain >= 3 ? name + 1 + domain : 0;
}

}  // namespace

void Redactor::hide(std::string word, std::string instead) {
  if (word.empty()) return;
  auto const same = [&](auto const& entry) { return entry.first == word; };
  if (std::any_of(words_.begin(), words_.end(), same)) return;
  words_.emplace_back(std::move(word), std::move(instead));
  std::stable_sort(words_.begin(), words_.end(), [](auto const& a, auto const& b) {
    return a.first.size() > b.first.size();
  });
}

std::string Redactor::operator()(std::string_view text) {
  return hide_patterns(hide_words(text));
}

std::string Redactor::numbered(char const* kind, std::string const& what) {
  auto& known = numbers_[kind];
  auto const number = known.try_emplace(what, known.size() + 1).first->second;
  return cat('<', kind, ' ', number, '>');
}

std::string Redactor::hide_words(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto const matches = [&](auto const& entry) {
      auto const& word = entry.first;
      if (text.substr(at, word.size()) != word) return false;
      auto const after = at + word.size();
      bool const begins = at == 0 || !is_word(word.front()) || !is_word(text[at - 1]);
      bool const ends = after >= text.size() || !is_word(word.back()) || !is_word(text[after]);
      return begins && ends;
    };
    auto const found = std::find_if(words_.begin(), words_.end(), matches);
    if (found == words_.end()) {
      out += text[at++];
      continue;
    }
    out += found->second;
    at += found->first.size();
  }
  return out;
}

std::string Redactor::hide_patterns(std::string_view text) {
  std::string out;
  std::string plain;
  auto const before = [&](std::size_t at) { return at == 0 ? ' ' : text[at - 1]; };
  for (std::size_t at = 0; at < text.size();) {
    char const last = before(at);
    // A letter or digit of a percent-encoded byte ends no word: "%2F203.0.113.5".
    bool const encoded_before =
        at >= 3 && text[at - 3] == '%' && is_hex(text[at - 2]) && is_hex(last);
    bool const fresh = encoded_before || !is_word(last);
    std::size_t length = 0;
    if (text.substr(at, 5) == "peer=" && (last == '?' || last == '&')) {
      auto const value = run(text, at + 5, [](char c) {
        return c != '&' && c != '"' && c != '\'' && static_cast<unsigned char>(c) > 0x20;
      });
      out += "peer=<address>";
      at += 5 + value;
      continue;
    }
    if (fresh && (length = peer_id(text, at)) > 0) {
      out += numbered("peer", std::string(text.substr(at, length)));
    } else if ((encoded_before || (!is_digit(last) && last != '.')) && is_digit(text[at]) &&
               (length = ipv4(text, at)) > 0) {
      auto const ip = std::string(text.substr(at, length));
      out += is_nobodys(ip) ? ip : numbered("ip", ip);
    } else if (fresh && last != ':' && (is_hex(text[at]) || text[at] == ':') &&
               (length = ipv6(text, at, plain)) > 0) {
      out += is_nobodys(plain) ? plain : numbered("ip", plain);
    } else if (fresh && (length = email(text, at)) > 0) {
      out += "<e-mail>";
    } else if (!is_hex(last) && (length = run(text, at, is_hex)) >= kLongHex) {
      out += numbered("hex", std::string(text.substr(at, length)));
    } else if ((last == '/' || !is_base64(last)) && (length = long_base64(text, at)) > 0) {
      out += "<key or hash>";
    } else {
      length = 1;
      out += text[at];
    }
    at += length;
  }
  return out;
}

}  // namespace waggle::node
