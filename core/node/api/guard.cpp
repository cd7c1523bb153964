// SPDX-License-Identifier: MIT
#include "core/node/api/guard.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/node/api/web_page.hpp"

namespace waggle::node {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// As it stands in a URL: an IPv6 address in brackets.
std::string in_url(std::string const& host) {
  return host.find(':') == std::string::npos ? host : cat('[', host, ']');
}

bool is_wildcard(std::string const& host) {
  return host == "0.0.0.0" || host == "::";
}

bool names_us(ApiDoor const& door, std::string const& host) {
  std::vector<std::string> ours{"127.0.0.1", "localhost", "[::1]"};
  if (!is_wildcard(door.host)) ours.push_back(lower(in_url(door.host)));
  auto const port = cat(':', door.port);
  for (auto const& name : ours)
    if (host == name + port || (door.port == 80 && host == name)) return true;
  for (auto const& configured : door.names) {
    auto const name = lower(configured);
    if (host == name || host == name + port) return true;
  }
  return false;
}

bool is_json(std::string_view type) {
  auto const plain = lower(type.substr(0, type.find(';')));
  auto const end = plain.find_last_not_of(" \t");
  return plain.substr(0, end == std::string::npos ? 0 : end + 1) == "application/json";
}

bool has_token(ApiDoor const& door, HttpRequest const& head) {
  constexpr std::string_view kScheme = "bearer ";
  auto const given = head.header("authorization");
  if (!given || door.token.empty() || given->size() < kScheme.size()) return false;
  if (lower(given->substr(0, kScheme.size())) != kScheme) return false;
  return crypto::equal_in_constant_time(as_bytes(given->substr(kScheme.size())),
                                        as_bytes(door.token));
}

// What a browser tells of where a request comes from; programs send neither header.
std::optional<Refusal> judge_origin(HttpRequest const& head, std::string const& host) {
  if (head.count("origin") > 0) {
    auto const origin = lower(head.header("origin").value_or(""));
    if (origin != cat("http://", host) && origin != cat("https://", host))
      return Refusal{403, "requests of other pages are refused"};
  }
  if (head.count("sec-fetch-site") > 0) {
    auto const site = head.header("sec-fetch-site").value_or("");
    bool const own = site == "same-origin" || site == "none";
    bool const followed_a_link =
        head.path == "/" && head.header("sec-fetch-mode").value_or("") == "navigate";
    if (!own && !followed_a_link) return Refusal{403, "requests of other pages are refused"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> judge(ApiDoor const& door, HttpRequest const& head) {
  bool const post = head.method == "POST";
  if (!post && head.method != "GET" && head.method != "HEAD")
    return Refusal{405, "only GET, HEAD and POST"};
  auto const host = lower(head.header("host").value_or(""));
  if (!names_us(door, host)) return Refusal{403, "this name is not ours (Host)"};
  if (auto refusal = judge_origin(head, host)) return refusal;
  if (is_public(head.path)) {
    if (post) return Refusal{405, "only GET and HEAD"};
    return std::nullopt;
  }
  if (!has_token(door, head))
    return Refusal{401, "a token is needed: Authorization: Bearer, from <data dir>/api.token"};
  if (post && !is_json(head.header("content-type").value_or("")))
    return Refusal{415, "a command is sent as application/json"};
  return std::nullopt;
}

bool is_public(std::string_view path) {
  return path == "/healthz" || web_file(path) != nullptr;
}

bool is_loopback(std::string_view host) {
  return host.substr(0, 4) == "127." || host == "::1";
}

std::string page_url(ApiDoor const& door) {
  return cat(
      "http://", is_wildcard(door.host) ? "127.0.0.1" : in_url(door.host), ':', door.port, '/');
}

}  // namespace waggle::node
