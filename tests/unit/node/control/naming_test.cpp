// SPDX-License-Identifier: MIT
#include "core/node/control/naming.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::node::control;

TEST_SUITE("naming") {
  TEST_CASE("an address is a multiaddr, or host and port") {
    CHECK(parse_address("/ip4/192.168.1.20/tcp/31337")->text() == "/ip4/192.168.1.20/tcp/31337");
    CHECK(parse_address(" 192.168.1.20:31337 ")->text() == "/ip4/192.168.1.20/tcp/31337");
    CHECK(parse_address("[2001:db8::1]:31337")->text() == "/ip6/2001:db8::1/tcp/31337");
    CHECK(parse_address("server.lan:31337")->text() == "/dns/server.lan/tcp/31337");
    for (auto const* const bad :
         {"", "server", ":1", "server:", "server:0", "server:70000", "a:1x"}) {
      CAPTURE(bad);
      CHECK_FALSE(parse_address(bad));
    }
  }

  TEST_CASE("this machine has a name") {
    CHECK(!host_name().empty());
  }
}
