// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/node/api/http_request.hpp"

namespace waggle::node {

/// Who may come in by TCP. Any program on this machine and any page in its browser can send to
/// 127.0.0.1, so that the address proves nothing:
///   - Host must be a name of ours. A name that its owner let point to 127.0.0.1 after the fact
///     (DNS rebinding) is not one, whatever the page behind it sends.
///   - Origin, if there is one, must be the page of this very server; a page that a browser says
///     comes from elsewhere (Sec-Fetch-Site) gets nothing but, when navigated to, the empty page.
///   - Everything but the page's files and /healthz needs the token, as "Authorization: Bearer …".
///   A
///     cookie would not do: cookies do not know ports, so another program's page on
///     127.0.0.1:8000 counts as the same site and would be sent ours.
///   - A command must be declared as application/json, which no HTML form can.
struct ApiDoor {
  std::string host = "127.0.0.1";  ///< where it listens, an IP address
  std::uint16_t port = 0;
  std::vector<std::string> names;  ///< further names that may stand in Host, with or without port
  std::string token;
};

struct Refusal {
  int status = 403;
  std::string why;
};

/// Why this request is refused; unset: let it in. Judges the head alone, before any body is read.
[[nodiscard]] std::optional<Refusal> judge(ApiDoor const& door, HttpRequest const& head);

/// Whether `path` is shown without a token: the page's files and /healthz.
[[nodiscard]] bool is_public(std::string_view path);

/// Whether only this machine can reach that address.
[[nodiscard]] bool is_loopback(std::string_view host);

/// The address of the page.
[[nodiscard]] std::string page_url(ApiDoor const& door);

}  // namespace waggle::node
