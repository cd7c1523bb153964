// SPDX-License-Identifier: MIT
#include "core/wire/multiaddr.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/detail/ip.hpp"
#include "core/wire/detail/multiaddr_table.hpp"

namespace waggle::wire {
namespace {

using detail::Code;
using detail::Component;

// The longest text of kMaxBytes: a certificate hash or a peer id grows by less than two letters a
// byte.
constexpr std::size_t kMaxText = 4 * Multiaddr::kMaxBytes;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("multiaddr: ", what)};
}

Status check_size(std::size_t size) {
  if (size > Multiaddr::kMaxBytes)
    return Error{Errc::too_large,
                 cat("multiaddr of ", size, " bytes, at most ", Multiaddr::kMaxBytes)};
  return ok();
}

// Takes "/segment" from the front of `text`.
std::optional<std::string_view> take_segment(std::string_view& text) {
  if (!text.starts_with('/')) return std::nullopt;
  text.remove_prefix(1);
  auto const segment = text.substr(0, text.find('/'));
  text.remove_prefix(segment.size());
  return segment;
}

Status take_component(std::string_view& text, Bytes& out) {
  auto const name = take_segment(text);
  if (!name) return malformed("a component does not begin with a slash");
  auto const* const protocol = detail::find_protocol(*name);
  if (protocol == nullptr) return malformed(cat("\"", name->substr(0, 64), "\" is not known"));
  std::string_view value;
  if (protocol->kind == detail::ValueKind::path) {
    value = std::exchange(text, {});
  } else if (protocol->kind != detail::ValueKind::none) {
    auto const segment = take_segment(text);
    if (!segment) return malformed(cat(*name, " lacks its value"));
    value = *segment;
  }
  WAGGLE_TRY(auto const bytes, detail::value_from_text(*protocol, value));
  detail::append_component(out, *protocol, bytes);
  return check_size(out.size());
}

// Walks a checked address: calls f(component, offset) until it returns false.
template <class F>
void walk(ByteView bytes, F f) {
  for (std::size_t at = 0; at < bytes.size();) {
    auto const component = detail::read_component(bytes.subspan(at));
    if (!component || !f(*component, at)) return;
    at += component->size;
  }
}

std::vector<Component> components(ByteView bytes) {
  std::vector<Component> all;
  walk(bytes, [&](Component const& c, std::size_t) { return all.push_back(c), true; });
  return all;
}

std::optional<TcpTarget::Kind> host_kind(Code code) {
  switch (code) {
    case Code::ip4:
      return TcpTarget::Kind::ip4;
    case Code::ip6:
      return TcpTarget::Kind::ip6;
    case Code::dns:
      return TcpTarget::Kind::dns;
    case Code::dns4:
      return TcpTarget::Kind::dns4;
    case Code::dns6:
      return TcpTarget::Kind::dns6;
    default:
      return std::nullopt;
  }
}

// The address's first IP, which may have a zone in front; empty if it begins otherwise.
ByteView first_ip(ByteView bytes) {
  ByteView ip;
  walk(bytes, [&](Component const& c, std::size_t) {
    if (c.protocol->code == Code::ip4 || c.protocol->code == Code::ip6) ip = c.value;
    return c.protocol->code == Code::ip6zone;
  });
  return ip;
}

// Where a /p2p/ at the very end begins, or the address's size.
std::size_t trailing_peer(ByteView bytes) {
  std::size_t start = bytes.size();
  walk(bytes, [&](Component const& c, std::size_t at) {
    if (c.protocol->code == Code::p2p && at + c.size == bytes.size()) start = at;
    return true;
  });
  return start;
}

}  // namespace

Result<Multiaddr> Multiaddr::parse(std::string_view text) {
  if (text.size() > kMaxText)
    return Error{Errc::too_large,
                 cat("multiaddr of ", text.size(), " letters, at most ", kMaxText)};
  if (text.empty()) return malformed("empty");
  Multiaddr address;
  while (!text.empty()) WAGGLE_TRY_STATUS(take_component(text, address.bytes_));
  return address;
}

Result<Multiaddr> Multiaddr::from_bytes(ByteView binary) {
  WAGGLE_TRY_STATUS(check_size(binary.size()));
  if (binary.empty()) return malformed("empty");
  Multiaddr address;
  address.bytes_.reserve(binary.size());
  while (!binary.empty()) {
    WAGGLE_TRY(auto const component, detail::read_component(binary));
    detail::append_component(address.bytes_, *component.protocol, component.value);
    binary = binary.subspan(component.size);
    // In text a path takes all that follows, so nothing may.
    if (component.protocol->kind == detail::ValueKind::path && !binary.empty())
      return malformed("something follows a path");
  }
  return address;
}

Result<Multiaddr> Multiaddr::tcp(std::string_view host, std::uint16_t port) {
  Multiaddr address;
  if (auto const ip4 = detail::parse_ip4(host))
    detail::append_component(address.bytes_, Code::ip4, *ip4);
  else if (auto const ip6 = detail::parse_ip6(host))
    detail::append_component(address.bytes_, Code::ip6, *ip6);
  else
    return malformed(cat("\"", host.substr(0, 64), "\" is no literal address"));
  std::array<std::byte, 2> value;
  store_be(value, port);
  detail::append_component(address.bytes_, Code::tcp, value);
  return address;
}

std::string Multiaddr::text() const {
  std::string out;
  walk(bytes_, [&](Component const& c, std::size_t) {
    out += cat('/', c.protocol->name);
    if (c.protocol->kind == detail::ValueKind::path)
      out += as_text(c.value);
    else if (c.protocol->kind != detail::ValueKind::none)
      out += cat('/', detail::value_text(*c.protocol, c.value));
    return true;
  });
  return out;
}

std::optional<TcpTarget> Multiaddr::tcp_target() const {
  auto const all = components(bytes_);
  std::size_t i = 0;
  std::string zone;
  if (!all.empty() && all[0].protocol->code == Code::ip6zone) {
    zone = cat('%', as_text(all[0].value));
    i = 1;
  }
  if (all.size() < i + 2 || all[i + 1].protocol->code != Code::tcp) return std::nullopt;
  auto const kind = host_kind(all[i].protocol->code);
  if (!kind || (i == 1 && *kind != TcpTarget::Kind::ip6)) return std::nullopt;
  return TcpTarget{*kind,
                   detail::value_text(*all[i].protocol, all[i].value) + zone,
                   load_be<std::uint16_t>(all[i + 1].value)};
}

bool Multiaddr::is_plain_tcp() const {
  if (!tcp_target()) return false;
  auto const all = components(without_peer_id().bytes_);
  return all.back().protocol->code == Code::tcp &&
         all.size() == (all[0].protocol->code == Code::ip6zone ? 3u : 2u);
}

std::optional<PeerId> Multiaddr::peer_id() const {
  std::optional<PeerId> id;
  walk(bytes_, [&](Component const& c, std::size_t) {
    if (c.protocol->code == Code::p2p) id = PeerId::from_bytes(c.value);
    return true;
  });
  return id;
}

bool Multiaddr::is_relayed() const {
  return relay().has_value();
}

std::optional<Multiaddr> Multiaddr::relay() const {
  std::optional<Multiaddr> found;
  walk(bytes_, [&](Component const& c, std::size_t at) {
    if (c.protocol->code != Code::p2p_circuit) return true;
    found.emplace();
    found->bytes_ = to_bytes(ByteView(bytes_).first(at));
    return false;
  });
  return found;
}

Multiaddr Multiaddr::through_relay() const {
  Multiaddr address = *this;
  detail::append_component(address.bytes_, Code::p2p_circuit, {});
  return address;
}

std::optional<std::string> Multiaddr::dnsaddr() const {
  std::optional<std::string> name;
  walk(bytes_, [&](Component const& c, std::size_t) {
    if (c.protocol->code == Code::dnsaddr) name = to_string(c.value);
    return false;
  });
  return name;
}

bool Multiaddr::is_loopback() const {
  auto const ip = first_ip(bytes_);
  return !ip.empty() && detail::is_loopback(ip);
}

bool Multiaddr::is_private() const {
  auto const ip = first_ip(bytes_);
  return !ip.empty() && detail::is_private(ip);
}

Multiaddr Multiaddr::with_peer_id(PeerId const& id) const {
  auto address = without_peer_id();
  detail::append_component(address.bytes_, Code::p2p, id.bytes());
  return address;
}

Multiaddr Multiaddr::without_peer_id() const {
  Multiaddr address;
  address.bytes_ = to_bytes(ByteView(bytes_).first(trailing_peer(bytes_)));
  return address;
}

}  // namespace waggle::wire
