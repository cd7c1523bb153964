// SPDX-License-Identifier: MIT
#include "core/wire/detail/ip.hpp"

#include <random>

#include <arpa/inet.h>
#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::wire::detail;

TEST_SUITE("ip") {
  TEST_CASE("every address that is printed reads back, and the C library reads it as we do") {
    std::mt19937 random(5);
    for (int i = 0; i < 20'000; ++i) {
      Ip6 ip{};
      // Each group is zero, small or full, so that runs of zeros of every length and place come up.
      for (std::size_t group = 0; group < 8; ++group) {
        auto const kind = random() % 3;
        auto const value =
            kind == 0 ? 0 : static_cast<std::uint16_t>(kind == 1 ? random() % 256 : random());
        store_be(MutableBytes(ip).subspan(2 * group), static_cast<std::uint16_t>(value));
      }
      auto const text = ip6_text(ip);
      REQUIRE(parse_ip6(text) == ip);
      Ip6 theirs{};
      REQUIRE(inet_pton(AF_INET6, text.c_str(), theirs.data()) == 1);
      REQUIRE(theirs == ip);
      char shortest[INET6_ADDRSTRLEN];
      REQUIRE(inet_ntop(AF_INET6, ip.data(), shortest, sizeof shortest) != nullptr);
      // The C library writes ::a.b.c.d for the long dead IPv4-compatible form; otherwise it agrees.
      if (std::string_view(shortest).find('.') == std::string_view::npos) REQUIRE(text == shortest);
    }
  }

  TEST_CASE("ip4 is four plain decimal numbers") {
    CHECK(ip4_text(*parse_ip4("255.0.10.1")) == "255.0.10.1");
    for (auto const* bad : {"",
                            "1.2.3",
                            "1.2.3.4.5",
                            "256.1.1.1",
                            "01.2.3.4",
                            "1.2.3.4 ",
                            " 1.2.3.4",
                            "0x1.2.3.4",
                            "1..2.3",
                            "-1.2.3.4",
                            "::1"})
      CHECK(!parse_ip4(bad));
    CHECK(!parse_ip4(std::string_view("1.2.3.4\0", 8)));
    CHECK(!parse_ip4(std::string(1000, '1')));
  }

  TEST_CASE("ip6 takes no zone, no port and no brackets") {
    for (auto const* bad : {"",
                            ":",
                            ":::",
                            "1",
                            "1:2:3:4:5:6:7",
                            "1:2:3:4:5:6:7:8:9",
                            "::1%lo",
                            "[::1]",
                            "::g",
                            "12345::",
                            "1.2.3.4",
                            "::1.2.3"})
      CHECK(!parse_ip6(bad));
    CHECK(!parse_ip6(std::string_view("::1\0x", 5)));
  }
}
