// SPDX-License-Identifier: MIT
#include "core/wire/detail/ip.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

#include "core/base/text.hpp"

namespace waggle::wire::detail {
namespace {

constexpr std::size_t kGroups = 8;
constexpr std::size_t kMappedPrefix = 12;

template <std::size_t N>
std::optional<std::array<std::byte, N>> parse(int family, std::string_view text) {
  // inet_pton reads to the terminator, so a text with a zero byte would be cut short.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::array<std::byte, N> ip{};
  if (inet_pton(family, std::string(text).c_str(), ip.data()) != 1) return std::nullopt;
  return ip;
}

bool is_mapped(ByteView ip) {
  return ip.size() == 16 && ip[10] == std::byte{0xff} && ip[11] == std::byte{0xff} &&
         std::all_of(ip.begin(), ip.begin() + 10, [](std::byte b) { return b == std::byte{0}; });
}

ByteView unmapped(ByteView ip) {
  return is_mapped(ip) ? ip.subspan(kMappedPrefix) : ip;
}

unsigned octet(ByteView ip, std::size_t i) {
  return std::to_integer<unsigned>(ip[i]);
}

unsigned group(ByteView ip, std::size_t i) {
  return load_be<std::uint16_t>(ip.subspan(2 * i));
}

struct Run {
  std::size_t first = kGroups;
  std::size_t length = 1;  // a single zero group is not shortened
};

// The longest run of zero groups, the first of equals (RFC 5952 section 4.2).
Run longest_zeros(ByteView ip) {
  Run best;
  for (std::size_t i = 0; i < kGroups; ++i) {
    std::size_t n = 0;
    while (i + n < kGroups && group(ip, i + n) == 0) ++n;
    if (n > best.length) best = {i, n};
  }
  return best;
}

void append_hex(std::string& out, unsigned value) {
  char buffer[8];
  auto const [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, value, 16);
  out.append(buffer, end);
}

}  // namespace

std::optional<Ip4> parse_ip4(std::string_view text) {
  return parse<4>(AF_INET, text);
}

std::optional<Ip6> parse_ip6(std::string_view text) {
  return parse<16>(AF_INET6, text);
}

std::string ip4_text(ByteView ip) {
  return cat(octet(ip, 0), '.', octet(ip, 1), '.', octet(ip, 2), '.', octet(ip, 3));
}

std::string ip6_text(ByteView ip) {
  if (is_mapped(ip)) return "::ffff:" + ip4_text(ip.subspan(kMappedPrefix));
  auto const zeros = longest_zeros(ip);
  std::string out;
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (i == zeros.first) {
      out += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    append_hex(out, group(ip, i));
  }
  return out;
}

bool is_loopback(ByteView ip) {
  ip = unmapped(ip);
  if (ip.size() == 4) return octet(ip, 0) == 127;
  return ip6_text(ip) == "::1";
}

bool is_private(ByteView ip) {
  ip = unmapped(ip);
  if (is_loopback(ip)) return true;
  auto const a = octet(ip, 0);
  auto const b = octet(ip, 1);
  if (ip.size() == 16) return (a & 0xfe) == 0xfc || (a == 0xfe && (b & 0xc0) == 0x80);
  return a == 10 || (a == 172 && (b & 0xf0) == 16) || (a == 192 && b == 168) ||
         (a == 169 && b == 254);
}

}  // namespace waggle::wire::detail
