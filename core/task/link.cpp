// SPDX-License-Identifier: MIT
#include "core/task/link.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/task/definition.hpp"

namespace waggle::task {
namespace {

constexpr std::string_view kScheme = "waggle:";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int const high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    int const low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return Error{
          Errc::invalid,
          cat("link: \"%\" at character ", i + 1, " of a value is not followed by two hex digits")};
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

/// RFC 3986's unreserved characters and the slash stay; a multiaddr stays readable.
std::string percent_encode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char const c : text) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/' || c == ':';
    if (plain) {
      out += c;
      continue;
    }
    auto const byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

Status read_value(Link& link, std::string_view key, std::string_view value) {
  if (key != "op" && key != "peer") return ok();  // a later version's
  WAGGLE_TRY(auto const text, percent_decode(value));
  if (key == "op") {
    if (!link.operator_id.empty()) return Error{Errc::invalid, "link: \"op\" stands twice"};
    auto id = crypto::parse_peer_id(text);
    if (!id) return Error{Errc::invalid, cat("link: op is no PeerID: ", id.error().detail)};
    link.operator_id = *id;
    return ok();
  }
  if (link.peers.size() == Link::kMaxPeers)
    return Error{Errc::too_large, cat("link: more than ", Link::kMaxPeers, " peers")};
  auto address = wire::Multiaddr::parse(text);
  if (!address)
    return Error{Errc::invalid, cat("link: peer is no multiaddr: ", address.error().detail)};
  link.peers.push_back(std::move(*address));
  return ok();
}

}  // namespace

Result<Link> Link::parse(std::string_view text) {
  if (text.size() > kMaxBytes)
    return Error{Errc::too_large, cat("link of ", text.size(), " bytes; at most ", kMaxBytes)};
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  bool const is_link = text.starts_with(kScheme);
  if (is_link) text.remove_prefix(kScheme.size());
  // A browser may have turned it into waggle://PREFIX?… or waggle:PREFIX/?….
  if (is_link && text.starts_with("//")) text.remove_prefix(2);
  auto const mark = is_link ? text.find('?') : std::string_view::npos;
  auto prefix = text.substr(0, mark);
  if (is_link && prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!valid_prefix(prefix))
    return Error{
        Errc::invalid,
        cat("link: expected waggle:PREFIX?… or a prefix of [a-z0-9][a-z0-9_-]{0,63}, found \"",
            prefix.substr(0, 80),
            "\"")};
  Link link;
  link.prefix = prefix;
  auto rest = mark == std::string_view::npos ? std::string_view{} : text.substr(mark + 1);
  if (auto const fragment = rest.find('#'); fragment != std::string_view::npos)
    rest = rest.substr(0, fragment);
  while (!rest.empty()) {
    auto const end = rest.find('&');
    auto const pair = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    auto const equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    WAGGLE_TRY_STATUS(read_value(link, pair.substr(0, equals), pair.substr(equals + 1)));
  }
  return link;
}

std::string Link::text() const {
  std::string out = cat(kScheme, prefix);
  char separator = '?';
  if (!operator_id.empty()) {
    out += cat(separator, "op=", crypto::to_text(operator_id));
    separator = '&';
  }
  std::size_t written = 0;
  for (auto const& peer : peers) {
    auto const part = cat(separator, "peer=", percent_encode(peer.text()));
    if (written == kMaxPeers || out.size() + part.size() > kMaxBytes) break;
    out += part;
    separator = '&';
    ++written;
  }
  return out;
}

}  // namespace waggle::task
