// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::node {

/// One request to the local API. Names of headers are in lower case.
struct HttpRequest {
  std::string method;
  std::string path;   ///< as sent, up to the "?"; nothing is decoded, so /%76 is not /v
  std::string query;  ///< without the "?"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// The value of a header that is there once. Unset: missing, or there twice.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  /// The value of "name=…" in the query, as sent.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

constexpr std::size_t kMaxHeadBytes = 8192;  ///< request line and headers
constexpr std::size_t kMaxHeaders = 64;
constexpr std::size_t kMaxBodyBytes = 64u << 10;  ///< commands are small; a waggle.toml fits

/// Reads request line and headers, with the empty line that ends them and nothing after it.
/// Stricter than RFC 9112 allows: lines end in CR LF, no folding, no control characters, HTTP/1.0
/// or 1.1, targets that begin with "/". Errors: malformed, too_large.
[[nodiscard]] Result<HttpRequest> parse_head(std::string_view head);

/// How long the body is that belongs to this head: 0 without Content-Length. Errors: malformed (two
/// of them, no number, or an encoding instead, which nobody needs here), too_large.
[[nodiscard]] Result<std::size_t> body_length(HttpRequest const& head);

/// A decimal number and nothing else.
[[nodiscard]] std::optional<std::uint64_t> decimal(std::string_view text);

}  // namespace waggle::node
