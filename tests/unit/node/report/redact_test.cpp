// SPDX-License-Identifier: MIT
#include "core/node/report/redact.hpp"

#include <doctest/doctest.h>

using namespace waggle::node;

TEST_SUITE("Redactor") {
  TEST_CASE("named words go, by themselves and not within others") {
    Redactor redact;
    redact.hide("/home/ann", "<home>");
    redact.hide("ann", "<user>");
    redact.hide("", "<nothing>");
    CHECK(redact("/home/ann/x of ann, Ann, annex, banann, ann_1 ann's (ann)") ==
          "<home>/x of <user>, Ann, annex, banann, ann_1 <user>'s (<user>)");
  }

  TEST_CASE("addresses get numbers, the same the same; loopback stays") {
    Redactor redact;
    CHECK(redact("203.0.113.5:80, /ip4/203.0.113.5/tcp/1, 198.51.100.7. 127.0.0.1 0.0.0.0") ==
          "<ip 1>:80, /ip4/<ip 1>/tcp/1, <ip 2>. 127.0.0.1 0.0.0.0");
    CHECK(redact("%2Fip4%2F203.0.113.5%2Ftcp") == "%2Fip4%2F<ip 1>%2Ftcp");
    CHECK(redact("[2001:db8::1]:80 /ip6/2001:db8::1/tcp ::1 fe80::1%eth0") ==
          "[<ip 3>]:80 /ip6/<ip 3>/tcp ::1 <ip 4>%eth0");
    CHECK(redact("%2Fip6%2F2001%3Adb8%3A%3A1%2Ftcp") == "%2Fip6%2F<ip 3>%2Ftcp");
    CHECK(redact("2001:db8::1: refused") == "<ip 3>: refused");
  }

  TEST_CASE("times, versions and sizes are no addresses") {
    Redactor redact;
    for (char const* const kept : {"2026-01-31T12:00:00.000Z info    node      epoch 3  loss 0.25",
                                   "waggle 0.1.0, glibc 2.36, Linux 6.1.0-13-amd64",
                                   "12:34:56 std::string a::b 300.1.2.3 1.2.3",
                                   "/v1/snapshot /usr/lib/x86_64-linux-gnu/a/b/c/d/e/f/g/h1/I",
                                   "{\"epoch\": 12, \"bytes_in\": 123456789012345}"}) {
      CHECK(redact(kept) == kept);
    }
  }

  TEST_CASE("PeerIDs, links, keys, hashes and e-mail addresses go") {
    Redactor redact;
    std::string const peer = "12D3KooWGRUwa4rTL9dtDdqRrGJYVjWrSbEXuJrJVmPvSLQgbYRz";
    CHECK(redact(peer + " and /p2p/" + peer) == "<peer 1> and /p2p/<peer 1>");
    CHECK(redact("op=QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N&x") == "op=<peer 2>&x");
    CHECK(redact("waggle:x?op=a&peer=%2Fdns4%2Fmine.example%2Ftcp%2F1&peer=b\"") ==
          "waggle:x?op=a&peer=<address>&peer=<address>\"");
    CHECK(redact("blob 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.") ==
          "blob <hex 1>.");
    CHECK(redact("key CAESQK9f1Zb0mS8pQ2vYw3T6uE4rH7jL5nX1cVbNmAsDfGhJkLqWeRtYuIoPzXcVbNm==") ==
          "key <key or hash>");
    CHECK(redact("/keys/CAESQK9f1Zb0mS8pQ2vYw3T6uE4rH7jL5nX1cVbNmAsDfGhJkLqWeRtYuIoPzXcVbNm==x") ==
          "/keys/<key or hash>x");
    CHECK(redact("mail ann.b+c@mail.example now") == "mail <e-mail> now");
    CHECK(redact("a @b user@ @") == "a @b user@ @");
  }
}
