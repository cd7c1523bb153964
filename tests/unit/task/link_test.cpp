// SPDX-License-Identifier: MIT
#include "core/task/link.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/peer_id.hpp"

using namespace waggle;
using namespace waggle::task;

namespace {

PeerId some_peer(int n) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(n);
  return crypto::Identity::from_seed(seed).peer_id();
}

Errc refusal(std::string const& text) {
  auto const parsed = Link::parse(text);
  REQUIRE_MESSAGE(!parsed, text);
  CHECK(!parsed.error().detail.empty());
  return parsed.error().code;
}

}  // namespace

TEST_SUITE("Link") {
  TEST_CASE("writes what it reads") {
    Link link;
    link.prefix = "fashion_resnet";
    link.operator_id = some_peer(1);
    for (int n = 2; n < 5; ++n) {
      auto const address = wire::Multiaddr::parse(
          cat("/ip4/10.0.0.", n, "/tcp/31337/p2p/", crypto::to_text(some_peer(n))));
      REQUIRE(address);
      link.peers.push_back(*address);
    }
    auto const text = link.text();
    CHECK(text.starts_with("waggle:fashion_resnet?op=12D3KooW"));
    CHECK(text.find(' ') == std::string::npos);
    auto const parsed = Link::parse(text);
    REQUIRE_MESSAGE(parsed, parsed.error().detail);
    CHECK(parsed->prefix == link.prefix);
    CHECK(parsed->operator_id == link.operator_id);
    CHECK(parsed->peers == link.peers);
    CHECK(parsed->text() == text);
  }

  TEST_CASE(
      "reads a bare prefix, percent-encoded addresses, unknown keys and what mail and browsers do "
      "to links") {
    CHECK(Link::parse("fashion")->operator_id.empty());
    CHECK(Link::parse("waggle:fashion")->prefix == "fashion");
    auto const op = crypto::to_text(some_peer(1));
    auto const parsed = Link::parse(cat(
        "waggle://fashion/?later=1&op=", op, "&peer=%2Fip4%2F127.0.0.1%2ftcp%2F4001&x#part\r\n"));
    REQUIRE_MESSAGE(parsed, parsed.error().detail);
    CHECK(parsed->operator_id == some_peer(1));
    REQUIRE(parsed->peers.size() == 1);
    CHECK(parsed->peers[0].text() == "/ip4/127.0.0.1/tcp/4001");
  }

  TEST_CASE("refuses what is none, with the reason") {
    CHECK(refusal("") == Errc::invalid);
    CHECK(refusal("waggle:") == Errc::invalid);
    CHECK(refusal("waggle:Bad.Prefix") == Errc::invalid);
    CHECK(refusal("http://example.org") == Errc::invalid);
    CHECK(refusal("waggle:p?op=nobody") == Errc::invalid);
    CHECK(refusal("waggle:p?peer=/ip4/300.0.0.1/tcp/1") == Errc::invalid);
    CHECK(refusal("waggle:p?peer=%2") == Errc::invalid);
    CHECK(refusal("waggle:p?peer=%zz") == Errc::invalid);
    auto const op = crypto::to_text(some_peer(1));
    CHECK(refusal(cat("waggle:p?op=", op, "&op=", op)) == Errc::invalid);
    CHECK(refusal("waggle:p?" + std::string(Link::kMaxBytes, 'x')) == Errc::too_large);
    std::string many = "waggle:p?x";
    for (int i = 0; i < 9; ++i) many += "&peer=/ip4/1.2.3.4/tcp/1";
    CHECK(refusal(many) == Errc::too_large);
  }

  TEST_CASE("never writes more than it would read") {
    Link link;
    link.prefix = std::string(64, 'a');
    auto const address = wire::Multiaddr::parse("/dns/" + std::string(400, 'b') + "/tcp/1");
    REQUIRE(address);
    link.peers.assign(12, *address);
    CHECK(Link::parse(link.text()));
    link.peers.assign(12, *wire::Multiaddr::parse("/ip4/1.2.3.4/tcp/1"));
    CHECK(Link::parse(link.text())->peers.size() == Link::kMaxPeers);
  }
}
