// SPDX-License-Identifier: MIT
#include "core/node/control/naming.hpp"

#include <charconv>
#include <system_error>

#include <asio/ip/host_name.hpp>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/control/contacts.hpp"

namespace waggle::node::control {

std::string peer_text(PeerId const& peer) {
  return crypto::to_text(peer);
}

std::string host_name() {
  std::error_code failed;
  auto const name = asio::ip::host_name(failed);
  return failed ? "machine" : clean_name(name);
}

Result<wire::Multiaddr> parse_address(std::string_view typed) {
  while (!typed.empty() && typed.front() == ' ') typed.remove_prefix(1);
  while (!typed.empty() && typed.back() == ' ') typed.remove_suffix(1);
  if (typed.starts_with('/')) return wire::Multiaddr::parse(typed);
  auto const colon = typed.rfind(':');
  auto const wrong = [&] {
    return Error{Errc::invalid,
                 cat("\"", typed, "\" is no address: give /ip4/…/tcp/…/p2p/… or HOST:PORT")};
  };
  if (colon == std::string_view::npos) return wrong();
  auto host = typed.substr(0, colon);
  auto const digits = typed.substr(colon + 1);
  std::uint16_t port = 0;
  auto const [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (ec != std::errc{} || end != digits.data() + digits.size() || port == 0) return wrong();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return wrong();
  if (auto address = wire::Multiaddr::tcp(host, port)) return address;
  auto named = wire::Multiaddr::parse(cat("/dns/", host, "/tcp/", port));
  if (!named) return wrong();
  return named;
}

}  // namespace waggle::node::control
