// SPDX-License-Identifier: MIT
#include "core/net/mdns/discovery.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

using namespace waggle;
using namespace waggle::net::mdns;

namespace {

std::vector<wire::Multiaddr> list(std::initializer_list<char const*> texts) {
  std::vector<wire::Multiaddr> out;
  for (auto const* const text : texts) out.push_back(*wire::Multiaddr::parse(text));
  return out;
}

std::vector<FoundPeer> heard(Bytes const& bytes, Source source = Source::local_network) {
  auto const message = Message::decode(bytes);
  REQUIRE(message);
  return peers_in(*message, source);
}

Bytes txt(std::vector<std::string> texts, std::string_view name = "x._p2p._udp.local") {
  Message message;
  message.response = true;
  message.answers.push_back({name_of(name), Type::txt, 120, {}, std::move(texts)});
  return *message.encode();
}

std::string dnsaddr(std::string_view address, std::uint64_t peer) {
  return cat("dnsaddr=", wire::Multiaddr::parse(address)->with_peer_id(sim::peer(peer)).text());
}

}  // namespace

TEST_SUITE("mDNS discovery") {
  TEST_CASE("a peer's name is a label of random letters and digits") {
    sim::World world(1);
    auto const name = peer_name(world);
    CHECK(name.size() == kPeerNameLetters);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos);
    CHECK(name != peer_name(world));
  }

  TEST_CASE("a query asks for peers; others, and answers, do not") {
    CHECK(asks_for_peers(*Message::decode(query())));
    Message message;
    message.questions.push_back({name_of("_P2P._udp.LOCAL"), 255});
    CHECK(asks_for_peers(message));
    message.questions = {{name_of("_p2p._udp.local"), 16}};
    CHECK_FALSE(asks_for_peers(message));
    message.questions = {{name_of("_ipp._tcp.local"), 12}};
    CHECK_FALSE(asks_for_peers(message));
    message.questions = {{name_of("_p2p._udp.local"), 12}};
    message.response = true;
    CHECK_FALSE(asks_for_peers(message));
  }

  TEST_CASE("an answer names the peer and its addresses as the specification has it") {
    auto const own = list({"/ip4/192.168.1.5/tcp/31337", "/ip4/10.1.2.3/tcp/31337"});
    auto const bytes = answer("abc", sim::peer(1), own);
    auto const message = Message::decode(bytes);
    REQUIRE(message);
    REQUIRE(message->answers.size() == 2);
    CHECK(message->answers[0].name == name_of("_p2p._udp.local"));
    CHECK(message->answers[0].target == name_of("abc._p2p._udp.local"));
    CHECK(message->answers[1].name == name_of("abc._p2p._udp.local"));
    CHECK(message->answers[1].texts[0] == dnsaddr("/ip4/192.168.1.5/tcp/31337", 1));
    auto const found = heard(bytes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].id == sim::peer(1));
    CHECK(found[0].addresses == own);
    CHECK(answer("abc", sim::peer(1), {}).empty());
  }

  TEST_CASE("more addresses than fit into a frame are left out") {
    std::vector<wire::Multiaddr> many;
    for (int i = 0; i < 200; ++i) many.push_back(*wire::Multiaddr::tcp(cat("10.0.0.", i), 1));
    auto const bytes = answer("abc", sim::peer(1), many);
    CHECK(bytes.size() <= Message::kMaxSent);
    CHECK(heard(bytes)[0].addresses.size() > 8);
  }

  TEST_CASE("who is believed") {
    CHECK(source_of("192.168.1.7") == Source::local_network);
    CHECK(source_of("172.16.0.1") == Source::local_network);
    CHECK(source_of("169.254.3.4") == Source::local_network);
    CHECK(source_of("fe80::1") == Source::local_network);
    CHECK(source_of("fd00::1") == Source::local_network);
    CHECK(source_of("127.0.0.1") == Source::this_machine);
    CHECK(source_of("::1") == Source::this_machine);
    CHECK(source_of("8.8.8.8") == Source::elsewhere);
    CHECK(source_of("2001:4860::1") == Source::elsewhere);
    CHECK(source_of("router") == Source::elsewhere);
    auto const bytes = txt({dnsaddr("/ip4/10.0.0.1/tcp/5", 1)});
    CHECK(heard(bytes).size() == 1);
    CHECK(heard(bytes, Source::elsewhere).empty());
  }

  TEST_CASE("addresses that a datagram must not make us dial are left out") {
    auto const bytes = txt({"dnsaddr=/ip4/10.0.0.1/tcp/1",  // whose?
                            dnsaddr("/ip4/8.8.8.8/tcp/443", 1),
                            dnsaddr("/dns4/example.org/tcp/443", 1),
                            dnsaddr("/ip4/127.0.0.1/tcp/22", 1),
                            dnsaddr("/ip6/::1/tcp/22", 1),
                            dnsaddr("/ip4/10.0.0.1/udp/9/quic-v1", 1),
                            dnsaddr("/ip4/10.0.0.1/tcp/0", 1),
                            "dnsaddr=nonsense",
                            "dnsaddr=",
                            "other=1",
                            "",
                            "DNSADDR=" + dnsaddr("/ip4/10.0.0.2/tcp/7", 1).substr(8),
                            dnsaddr("/ip4/10.0.0.2/tcp/7", 1)});
    auto const found = heard(bytes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].addresses == list({"/ip4/10.0.0.2/tcp/7"}));
    auto const here = heard(bytes, Source::this_machine);
    REQUIRE(here.size() == 1);
    CHECK(here[0].addresses.size() == 3);
  }

  TEST_CASE("other services, goodbyes and queries name nobody") {
    auto const text = dnsaddr("/ip4/10.0.0.1/tcp/5", 1);
    CHECK(heard(txt({text}, "x._http._tcp.local")).empty());
    CHECK(heard(txt({text}, "_p2p._udp.local")).empty());
    CHECK(heard(txt({text}, "y.x._p2p._udp.local")).empty());
    auto message = *Message::decode(txt({text}));
    message.response = false;
    CHECK(peers_in(message, Source::local_network).empty());
    message.response = true;
    message.answers[0].ttl = 0;
    CHECK(peers_in(message, Source::local_network).empty());
  }

  TEST_CASE("a datagram full of names gives a few") {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < 80; ++i) texts.push_back(dnsaddr("/ip4/10.0.0.1/tcp/5", i));
    CHECK(heard(txt(texts)).size() == kMaxPeersInAnswer);
    texts.clear();
    for (int i = 1; i < 80; ++i) texts.push_back(dnsaddr(cat("/ip4/10.0.0.1/tcp/", i), 1));
    auto const found = heard(txt(texts));
    REQUIRE(found.size() == 1);
    CHECK(found[0].addresses.size() == kMaxAddressesOfPeer);
  }
}
