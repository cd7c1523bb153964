// SPDX-License-Identifier: MIT
#include "core/wire/multiaddr.hpp"

#include <doctest/doctest.h>

#include "core/crypto/keys.hpp"
#include "core/crypto/peer_id.hpp"

using namespace waggle;
using wire::Multiaddr;
using wire::TcpTarget;

namespace {

Multiaddr address(std::string_view text) {
  auto parsed = Multiaddr::parse(text);
  REQUIRE_MESSAGE(parsed.has_value(), std::string(text), ": ", parsed.error().detail);
  return *std::move(parsed);
}

std::string printed(std::string_view text) {
  return address(text).text();
}

constexpr std::string_view kPeer = "12D3KooWPqT2nMDSiXUSx5D7fasaxhxKigVhcqfkKqrLghCq9jxz";
constexpr std::string_view kRelay = "12D3KooWLdJAwPtyQ5RFnr9wGXsQzpf3P2SeqFbYkqbfVehLu4Ns";

std::string operator/(std::string const& a, std::string_view b) {
  return a + "/" + std::string(b);
}

}  // namespace

TEST_SUITE("Multiaddr") {
  TEST_CASE("every protocol of the table goes from text to bytes and back") {
    for (std::string const& text : {std::string("/ip4/1.2.3.4/tcp/5"),
                                    std::string("/ip6/::/udp/0"),
                                    std::string("/ip6zone/eth0/ip6/fe80::1/tcp/80"),
                                    std::string("/dns/a.example/tcp/1"),
                                    std::string("/dns4/a.example/tcp/1"),
                                    std::string("/dns6/a.example/tcp/1"),
                                    std::string("/dnsaddr/a.example"),
                                    std::string("/ip4/1.2.3.4/udp/1/webrtc-direct"),
                                    std::string("/webrtc"),
                                    std::string("/p2p-circuit"),
                                    "/p2p" / kPeer,
                                    std::string("/ip4/1.2.3.4/tcp/1/tls/sni/a.example/ws"),
                                    std::string("/ip4/1.2.3.4/tcp/1/noise"),
                                    std::string("/ip4/1.2.3.4/udp/1/quic"),
                                    std::string("/ip4/1.2.3.4/udp/1/quic-v1"),
                                    std::string("/ip4/1.2.3.4/udp/1/quic-v1/webtransport/certhash/"
                                                "uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"),
                                    std::string("/dns4/a.example/tcp/443/wss"),
                                    std::string("/unix/run/waggle.sock"),
                                    std::string("/dns/пчела.example/tcp/1")}) {
      CAPTURE(text);
      auto const parsed = address(text);
      CHECK(parsed.text() == text);
      auto const read = Multiaddr::from_bytes(parsed.bytes());
      REQUIRE(read);
      CHECK(*read == parsed);
    }
  }

  TEST_CASE("ip6 prints as RFC 5952 wants it") {
    CHECK(printed("/ip6/2001:DB8:0:0:1:0:0:1") ==
          "/ip6/2001:db8::1:0:0:1");  // the first of equal runs
    CHECK(printed("/ip6/2001:db8:0:1:1:1:1:1") ==
          "/ip6/2001:db8:0:1:1:1:1:1");  // one group is not shortened
    CHECK(printed("/ip6/2001:0:0:1:0:0:0:1") == "/ip6/2001:0:0:1::1");  // the longest run
    CHECK(printed("/ip6/1:0:0:0:0:0:0:0") == "/ip6/1::");
    CHECK(printed("/ip6/0:0:0:0:0:0:0:0") == "/ip6/::");
    CHECK(printed("/ip6/::ffff:c000:0201") == "/ip6/::ffff:192.0.2.1");
    CHECK(printed("/ip6/::0102:0304") == "/ip6/::102:304");
    CHECK(printed("/ip6/0001:0002:0003:0004:0005:0006:0007:0008") == "/ip6/1:2:3:4:5:6:7:8");
  }

  TEST_CASE("texts that name nothing are malformed, and the error names the component") {
    for (auto const* text : {"/",
                             "//",
                             "x",
                             "/ip4",
                             "/ip4/",
                             "/ip4/1.2.3",
                             "/ip4/01.2.3.4",
                             "/ip4/1.2.3.4 ",
                             "/ip4/1.2.3.4/",
                             "/ip6/fe80::1%eth0",
                             "/ip6/1::2::3",
                             "/tcp/-1",
                             "/tcp/+1",
                             "/tcp/ 1",
                             "/tcp/01",
                             "/tcp/65536",
                             "/tcp/",
                             "/tcp/1x",
                             "/udp/99999999999999999999",
                             "/dns//tcp/1",
                             "/dns/a\x01"
                             "b",
                             "/dns/\xff",
                             "/p2p/",
                             "/p2p/Qm",
                             "/certhash/",
                             "/certhash/uAAAA",
                             "/unix",
                             "/unix/",
                             "/IP4/1.2.3.4",
                             "/p2p-circuit/x"}) {
      CAPTURE(text);
      auto const parsed = Multiaddr::parse(text);
      REQUIRE(!parsed);
      CHECK(parsed.error().code == Errc::malformed);
    }
    CHECK(Multiaddr::parse("/ip4/1.2.3.4/tcp/65536").error().detail.find("tcp") !=
          std::string::npos);
    CHECK(Multiaddr::parse(std::string_view("/ip4/1.2.3.4\0/tcp/1", 19)).error().code ==
          Errc::malformed);
  }

  TEST_CASE("bytes that the text form could not say are malformed") {
    for (auto const* hex :
         {"",           "04",       "04010203",         "0601",   "35",
          "3500",       "35012f",   "350100",           "3501ff", "35ffffffffffffffff7f",
          "a50300",     "a5030100", "a503021220",       "d20300", "d203021220",
          "9003026161", "9003012f", "9003022f61060050", "8400",   "808000",
          "ff"}) {
      CAPTURE(hex);
      auto const read = Multiaddr::from_bytes(*from_hex(hex));
      REQUIRE(!read);
      CHECK(read.error().code == Errc::malformed);
    }
  }

  TEST_CASE("above a kibibyte is too large in both forms") {
    std::string text;
    while (text.size() < 5000) text += "/dns/abcdefgh";
    CHECK(Multiaddr::parse(text).error().code == Errc::too_large);
    CHECK(Multiaddr::parse(text.substr(0, 13 * 102)).has_value());  // 102 × 10 bytes
    CHECK(Multiaddr::parse(text.substr(0, 13 * 103)).error().code == Errc::too_large);
    CHECK(Multiaddr::from_bytes(Bytes(Multiaddr::kMaxBytes + 1)).error().code == Errc::too_large);
  }

  TEST_CASE("a CID in the binary form becomes the bare multihash") {
    auto const id = *crypto::parse_peer_id(kPeer);
    Bytes cid = *from_hex("a503280172");
    append(cid, id.bytes());
    auto const read = Multiaddr::from_bytes(cid);
    REQUIRE(read);
    CHECK(*read == address("/p2p" / kPeer));
  }

  TEST_CASE("a TCP target is a host and a port at the front") {
    auto const target = [](std::string_view text) { return address(text).tcp_target(); };
    CHECK(target("/ip4/1.2.3.4/tcp/5") == TcpTarget{TcpTarget::Kind::ip4, "1.2.3.4", 5});
    CHECK(target("/ip6/::1/tcp/65535" / std::string_view("ws")) ==
          TcpTarget{TcpTarget::Kind::ip6, "::1", 65535});
    CHECK(target("/dns6/a.example/tcp/1") == TcpTarget{TcpTarget::Kind::dns6, "a.example", 1});
    CHECK(target("/dns/a.example/tcp/1") == TcpTarget{TcpTarget::Kind::dns, "a.example", 1});
    CHECK(target("/dns4/a.example/tcp/1") == TcpTarget{TcpTarget::Kind::dns4, "a.example", 1});
    CHECK(target("/ip6zone/eth0/ip6/fe80::1/tcp/80") ==
          TcpTarget{TcpTarget::Kind::ip6, "fe80::1%eth0", 80});
    for (auto const* text : {"/ip4/1.2.3.4",
                             "/ip4/1.2.3.4/udp/5",
                             "/tcp/5",
                             "/dnsaddr/a.example/tcp/1",
                             "/p2p-circuit",
                             "/ip6zone/eth0/ip4/1.2.3.4/tcp/1"})
      CHECK(!target(text));
    CHECK(!Multiaddr{}.tcp_target());
  }

  TEST_CASE("plain TCP is such a pair and perhaps a peer, nothing else") {
    for (auto const& text : {std::string("/ip4/1.2.3.4/tcp/5"),
                             "/ip4/1.2.3.4/tcp/5/p2p" / kPeer,
                             std::string("/ip6zone/eth0/ip6/fe80::1/tcp/80")})
      CHECK(address(text).is_plain_tcp());
    for (auto const& text : {std::string("/ip4/1.2.3.4/tcp/5/ws"),
                             std::string("/ip4/1.2.3.4/udp/5/quic-v1"),
                             "/p2p" / kPeer,
                             "/ip4/1.2.3.4/tcp/5/p2p" / kRelay + "/p2p-circuit",
                             std::string("/ip4/1.2.3.4/tcp/5/tls/ws")})
      CHECK(!address(text).is_plain_tcp());
  }

  TEST_CASE("the last peer counts, and the relay is what stands before the circuit") {
    auto const relay = "/ip4/203.0.113.7/tcp/4001/p2p" / kRelay;
    auto const circuit = relay + "/p2p-circuit";
    auto const relayed = address(circuit + "/p2p" / kPeer);
    CHECK(crypto::to_text(*relayed.peer_id()) == kPeer);
    CHECK(relayed.is_relayed());
    CHECK(relayed.relay()->text() == relay);
    CHECK(!address(relay).is_relayed());
    CHECK(!address(relay).relay());
    CHECK(address(relay).through_relay().text() == circuit);
    CHECK(relayed.without_peer_id().text() == circuit);
    CHECK(address(circuit).without_peer_id().text() == circuit);  // the relay's own id stays
  }

  TEST_CASE("a peer id is put at the end once") {
    auto const one = *crypto::parse_peer_id(kPeer);
    auto const two = *crypto::parse_peer_id(kRelay);
    auto const bare = address("/ip4/1.2.3.4/tcp/5");
    CHECK(!bare.peer_id());
    auto const named = bare.with_peer_id(one);
    CHECK(named.text() == "/ip4/1.2.3.4/tcp/5/p2p" / kPeer);
    CHECK(named.with_peer_id(two).text() == "/ip4/1.2.3.4/tcp/5/p2p" / kRelay);
    CHECK(named.without_peer_id() == bare);
    CHECK(bare.without_peer_id() == bare);
    CHECK(address("/p2p" / kPeer).without_peer_id() == Multiaddr{});
  }

  TEST_CASE("private and loopback addresses are told from public ones") {
    struct Case {
      char const* text;
      bool loopback;
      bool is_private;
    };

    constexpr Case kCases[] = {{"/ip4/127.0.0.1/tcp/1", true, true},
                               {"/ip4/127.255.0.3/tcp/1", true, true},
                               {"/ip4/10.0.0.1/tcp/1", false, true},
                               {"/ip4/172.16.0.1/tcp/1", false, true},
                               {"/ip4/172.31.255.1/tcp/1", false, true},
                               {"/ip4/172.32.0.1/tcp/1", false, false},
                               {"/ip4/192.168.1.1/tcp/1", false, true},
                               {"/ip4/192.169.1.1/tcp/1", false, false},
                               {"/ip4/169.254.1.1/tcp/1", false, true},
                               {"/ip4/8.8.8.8/tcp/1", false, false},
                               {"/ip6/::1/tcp/1", true, true},
                               {"/ip6/::2/tcp/1", false, false},
                               {"/ip6/fe80::1/tcp/1", false, true},
                               {"/ip6/febf::1/tcp/1", false, true},
                               {"/ip6/fec0::1/tcp/1", false, false},
                               {"/ip6/fd00::1/tcp/1", false, true},
                               {"/ip6/fc00::1/tcp/1", false, true},
                               {"/ip6/fe00::1/tcp/1", false, false},
                               {"/ip6/2001:db8::1/tcp/1", false, false},
                               {"/ip6/::ffff:10.0.0.1/tcp/1", false, true},
                               {"/ip6/::ffff:127.0.0.1/tcp/1", true, true},
                               {"/ip6/::ffff:8.8.8.8/tcp/1", false, false},
                               {"/ip6zone/eth0/ip6/fe80::1/tcp/1", false, true},
                               {"/dns/localhost/tcp/1", false, false},
                               {"/unix/run/x", false, false}};
    for (auto const& c : kCases) {
      CAPTURE(c.text);
      CHECK(address(c.text).is_loopback() == c.loopback);
      CHECK(address(c.text).is_private() == c.is_private);
    }
  }

  TEST_CASE("tcp() takes literal addresses of both families and nothing else") {
    CHECK(Multiaddr::tcp("1.2.3.4", 5)->text() == "/ip4/1.2.3.4/tcp/5");
    CHECK(Multiaddr::tcp("::1", 0)->text() == "/ip6/::1/tcp/0");
    for (auto const* host : {"", "localhost", "1.2.3.4.5", "fe80::1%eth0", "1.2.3.4/tcp"})
      CHECK(Multiaddr::tcp(host, 5).error().code == Errc::malformed);
  }

  TEST_CASE("only a leading dnsaddr has a name to resolve") {
    CHECK(address("/dnsaddr/b.example/p2p" / kPeer).dnsaddr() == "b.example");
    CHECK(!address("/ip4/1.2.3.4/tcp/1/dnsaddr/x").dnsaddr());
    CHECK(!Multiaddr{}.dnsaddr());
  }
}
