// SPDX-License-Identifier: MIT
#include "core/wire/detail/multiaddr_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/assert.hpp"
#include "core/crypto/multibase.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/detail/ip.hpp"
#include "core/wire/utf8.hpp"
#include "core/wire/varint.hpp"

namespace waggle::wire::detail {
namespace {

constexpr std::array kProtocols{
    Protocol{Code::ip4, "ip4", ValueKind::ip4},
    Protocol{Code::tcp, "tcp", ValueKind::port},
    Protocol{Code::ip6, "ip6", ValueKind::ip6},
    Protocol{Code::ip6zone, "ip6zone", ValueKind::text},
    Protocol{Code::dns, "dns", ValueKind::text},
    Protocol{Code::dns4, "dns4", ValueKind::text},
    Protocol{Code::dns6, "dns6", ValueKind::text},
    Protocol{Code::dnsaddr, "dnsaddr", ValueKind::text},
    Protocol{Code::udp, "udp", ValueKind::port},
    Protocol{Code::webrtc_direct, "webrtc-direct", ValueKind::none},
    Protocol{Code::webrtc, "webrtc", ValueKind::none},
    Protocol{Code::p2p_circuit, "p2p-circuit", ValueKind::none},
    Protocol{Code::unix_path, "unix", ValueKind::path},
    Protocol{Code::p2p, "p2p", ValueKind::peer_id},
    Protocol{Code::tls, "tls", ValueKind::none},
    Protocol{Code::sni, "sni", ValueKind::text},
    Protocol{Code::noise, "noise", ValueKind::none},
    Protocol{Code::quic, "quic", ValueKind::none},
    Protocol{Code::quic_v1, "quic-v1", ValueKind::none},
    Protocol{Code::webtransport, "webtransport", ValueKind::none},
    Protocol{Code::certhash, "certhash", ValueKind::certhash},
    Protocol{Code::ws, "ws", ValueKind::none},
    Protocol{Code::wss, "wss", ValueKind::none},
};

// CIDv1 of a libp2p key, which some write where the bare multihash belongs.
constexpr std::array kCidPrefix{std::byte{0x01}, std::byte{0x72}};

Error malformed(Protocol const& protocol, std::string_view what) {
  return Error{Errc::malformed, cat("multiaddr: ", protocol.name, ": ", what)};
}

bool has_length(ValueKind kind) {
  return kind == ValueKind::text || kind == ValueKind::path || kind == ValueKind::peer_id ||
         kind == ValueKind::certhash;
}

std::size_t fixed_size(ValueKind kind) {
  switch (kind) {
    case ValueKind::ip4:
      return 4;
    case ValueKind::ip6:
      return 16;
    case ValueKind::port:
      return 2;
    default:
      return 0;
  }
}

bool is_printable(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](unsigned char c) {
           return c < 0x20 || c == 0x7f;
         });
}

bool is_multihash(ByteView value) {
  auto const code = read_varint(value);
  if (!code) return false;
  auto const length = read_varint(value.subspan(code->second));
  return length && length->first == value.size() - code->second - length->second &&
         length->first > 0;
}

// What the binary form may hold is what the text form can say, so that each reads back as the
// other.
Status check_value(Protocol const& protocol, ByteView value) {
  auto const text = as_text(value);
  switch (protocol.kind) {
    case ValueKind::text:
      if (text.empty() || !is_printable(text) || text.find('/') != std::string_view::npos)
        return malformed(protocol, "its name is empty, not printable or holds a slash");
      return ok();
    case ValueKind::path:
      if (text.size() < 2 || text[0] != '/' || !is_printable(text))
        return malformed(protocol, "no absolute path");
      return ok();
    case ValueKind::peer_id: {
      WAGGLE_TRY_STATUS(crypto::peer_id_from_bytes(value));
      return ok();
    }
    case ValueKind::certhash:
      if (!is_multihash(value)) return malformed(protocol, "no multihash");
      return ok();
    default:
      return ok();
  }
}

Result<Bytes> port_from_text(Protocol const& protocol, std::string_view text) {
  std::uint16_t port = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (ec != std::errc{} || end != text.data() + text.size() || (text.size() > 1 && text[0] == '0'))
    return malformed(protocol, "no port from 0 to 65535");
  Bytes value(2);
  store_be(value, port);
  return value;
}

template <class Ip>
Result<Bytes> ip_from_text(Protocol const& protocol, std::optional<Ip> const& ip) {
  if (!ip) return malformed(protocol, "no such address");
  return to_bytes(ByteView(*ip));
}

}  // namespace

Protocol const* find_protocol(std::uint64_t code) noexcept {
  auto const found = std::find_if(kProtocols.begin(), kProtocols.end(), [&](Protocol const& p) {
    return static_cast<std::uint64_t>(p.code) == code;
  });
  return found != kProtocols.end() ? &*found : nullptr;
}

Protocol const* find_protocol(std::string_view name) noexcept {
  if (name == "ipfs") name = "p2p";
  auto const found = std::find_if(
      kProtocols.begin(), kProtocols.end(), [&](Protocol const& p) { return p.name == name; });
  return found != kProtocols.end() ? &*found : nullptr;
}

Result<Component> read_component(ByteView in) {
  auto const code = read_varint(in);
  if (!code) return Error{Errc::malformed, cat("multiaddr: ", code.error().detail)};
  auto const* const protocol = find_protocol(code->first);
  if (protocol == nullptr)
    return Error{Errc::malformed, cat("multiaddr: code ", code->first, " is not known")};
  auto start = code->second;
  std::uint64_t size = fixed_size(protocol->kind);
  if (has_length(protocol->kind)) {
    auto const length = read_varint(in.subspan(start));
    if (!length) return malformed(*protocol, length.error().detail);
    size = length->first;
    start += length->second;
  }
  if (size > in.size() - start)
    return malformed(*protocol, cat("needs ", size, " bytes, ", in.size() - start, " are left"));
  auto value = in.subspan(start, static_cast<std::size_t>(size));
  start += value.size();
  bool const is_cid = protocol->kind == ValueKind::peer_id && value.size() > kCidPrefix.size() &&
                      equal(value.first(kCidPrefix.size()), kCidPrefix);
  if (is_cid) value = value.subspan(kCidPrefix.size());
  WAGGLE_TRY_STATUS(check_value(*protocol, value));
  return Component{protocol, value, start};
}

void append_component(Bytes& out, Protocol const& protocol, ByteView value) {
  append_varint(out, static_cast<std::uint64_t>(protocol.code));
  if (has_length(protocol.kind)) append_varint(out, value.size());
  append(out, value);
}

void append_component(Bytes& out, Code code, ByteView value) {
  auto const* const protocol = find_protocol(static_cast<std::uint64_t>(code));
  WAGGLE_ASSERT(protocol != nullptr);
  append_component(out, *protocol, value);
}

Result<Bytes> value_from_text(Protocol const& protocol, std::string_view text) {
  switch (protocol.kind) {
    case ValueKind::none:
      return Bytes{};
    case ValueKind::ip4:
      return ip_from_text(protocol, parse_ip4(text));
    case ValueKind::ip6:
      return ip_from_text(protocol, parse_ip6(text));
    case ValueKind::port:
      return port_from_text(protocol, text);
    case ValueKind::peer_id: {
      WAGGLE_TRY(auto const id, crypto::parse_peer_id(text));
      return to_bytes(id.bytes());
    }
    case ValueKind::certhash: {
      WAGGLE_TRY(auto hash, crypto::multibase_decode(text));
      WAGGLE_TRY_STATUS(check_value(protocol, hash));
      return hash;
    }
    case ValueKind::text:
    case ValueKind::path:
      break;
  }
  WAGGLE_TRY_STATUS(check_value(protocol, as_bytes(text)));
  return to_bytes(text);
}

std::string value_text(Protocol const& protocol, ByteView value) {
  switch (protocol.kind) {
    case ValueKind::none:
      return {};
    case ValueKind::ip4:
      return ip4_text(value);
    case ValueKind::ip6:
      return ip6_text(value);
    case ValueKind::port:
      return cat(load_be<std::uint16_t>(value));
    case ValueKind::peer_id:
      return crypto::base58_encode(value);
    case ValueKind::certhash:
      return crypto::multibase_base64url(value);
    case ValueKind::text:
    case ValueKind::path:
      break;
  }
  return to_string(value);
}

}  // namespace waggle::wire::detail
