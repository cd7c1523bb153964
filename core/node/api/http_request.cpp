// SPDX-License-Identifier: MIT
#include "core/node/api/http_request.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMaxMethod = 16;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("the request has ", what)};
}

bool is_token(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_text(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes the next line off `rest`; unset where no CR LF is left.
std::optional<std::string_view> next_line(std::string_view& rest) {
  auto const end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  auto const line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

Status read_request_line(std::string_view line, HttpRequest& into) {
  auto const first = line.find(' ');
  auto const second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return malformed("no request line");
  auto const method = line.substr(0, first);
  auto const target = line.substr(first + 1, second - first - 1);
  auto const version = line.substr(second + 1);
  if (method.empty() || method.size() > kMaxMethod ||
      !std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    return malformed("no method");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return malformed("an unknown version");
  if (target.empty() || target[0] != '/' ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; }) ||
      target.find('#') != std::string_view::npos)
    return malformed("a target that is no path");
  auto const mark = target.find('?');
  into.method = method;
  into.path = target.substr(0, mark);
  if (mark != std::string_view::npos) into.query = target.substr(mark + 1);
  return ok();
}

Status read_header(std::string_view line, HttpRequest& into) {
  auto const colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return malformed("a header without a name");
  auto const name = line.substr(0, colon);
  if (!std::all_of(name.begin(), name.end(), is_token)) return malformed("a bad header name");
  auto const value = trimmed(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), is_text)) return malformed("a bad header value");
  if (into.headers.size() >= kMaxHeaders)
    return Error{Errc::too_large, cat("the request has over ", kMaxHeaders, " headers")};
  std::string key(name);
  std::transform(key.begin(), key.end(), key.begin(), lower);
  into.headers.emplace_back(std::move(key), std::string(value));
  return ok();
}

}  // namespace

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(), [&](auto const& entry) { return entry.first == name; }));
}

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (auto const& [key, value] : headers) {
    if (key != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

std::optional<std::string_view> HttpRequest::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    auto const end = std::min(rest.find('&'), rest.size());
    auto const pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto const equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      return pair.substr(equals + 1);
  }
  return std::nullopt;
}

Result<HttpRequest> parse_head(std::string_view head) {
  if (head.size() > kMaxHeadBytes)
    return Error{Errc::too_large,
                 cat("the request's head has ", head.size(), " bytes, limit ", kMaxHeadBytes)};
  HttpRequest request;
  auto const first = next_line(head);
  if (!first) return malformed("no line");
  WAGGLE_TRY_STATUS(read_request_line(*first, request));
  for (;;) {
    auto const line = next_line(head);
    if (!line) return malformed("no end of its headers");
    if (line->empty()) break;
    WAGGLE_TRY_STATUS(read_header(*line, request));
  }
  if (!head.empty()) return malformed("bytes after its head");
  return request;
}

Result<std::size_t> body_length(HttpRequest const& head) {
  for (char const* const encoding : {"transfer-encoding", "content-encoding"})
    if (head.count(encoding) > 0) return malformed("an encoding; send the body plain");
  if (head.count("content-length") == 0) return std::size_t{0};
  auto const text = head.header("content-length");
  auto const length = text ? decimal(*text) : std::nullopt;
  if (!length) return malformed("no single Content-Length");
  if (*length > kMaxBodyBytes)
    return Error{Errc::too_large,
                 cat("the request's body has ", *length, " bytes, limit ", kMaxBodyBytes)};
  return static_cast<std::size_t>(*length);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  auto const* const end = text.data() + text.size();
  auto const [at, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || at != end) return std::nullopt;
  return value;
}

}  // namespace waggle::node
