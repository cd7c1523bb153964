// SPDX-License-Identifier: MIT
#include "core/node/api/guard.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::string const kToken(64, 'a');

ApiDoor door() {
  return {"127.0.0.1", 8642, {"Box.lan", "proxy.example:443"}, kToken};
}

struct Ask {
  std::string line = "GET /v1/snapshot HTTP/1.1";
  std::string host = "127.0.0.1:8642";
  std::string token = kToken;
  std::string more;
};

// The status of the refusal; 0: let in.
int judged(Ask const& ask, ApiDoor const& by = door()) {
  std::string text = ask.line + "\r\n";
  if (!ask.host.empty()) text += "Host: " + ask.host + "\r\n";
  if (!ask.token.empty()) text += "Authorization: Bearer " + ask.token + "\r\n";
  auto const head = parse_head(text + ask.more + "\r\n");
  REQUIRE(head);
  auto const refusal = judge(by, *head);
  return refusal ? refusal->status : 0;
}

}  // namespace

TEST_SUITE("judge") {
  TEST_CASE("lets its owner in, by each of its names") {
    for (char const* const host : {"127.0.0.1:8642",
                                   "localhost:8642",
                                   "LocalHost:8642",
                                   "[::1]:8642",
                                   "box.lan",
                                   "box.lan:8642",
                                   "proxy.example:443"}) {
      CAPTURE(host);
      CHECK(judged({.host = host}) == 0);
    }
    CHECK(judged({.more = "Origin: http://127.0.0.1:8642\r\nSec-Fetch-Site: same-origin\r\n"}) ==
          0);
    CHECK(judged({.host = "proxy.example:443", .more = "Origin: https://proxy.example:443\r\n"}) ==
          0);
  }

  TEST_CASE("a name that somebody let point here is refused, token or not") {
    for (char const* const host : {"evil.example:8642",
                                   "evil.example",
                                   "127.0.0.1",
                                   "127.0.0.1:80",
                                   "127.0.0.1:8642.evil.example",
                                   "localhost.evil.example:8642",
                                   "127.0.0.1:8642@evil.example",
                                   "box.lan.evil.example",
                                   "proxy.example",
                                   "127.1:8642",
                                   "2130706433:8642",
                                   "0.0.0.0:8642",
                                   ""}) {
      CAPTURE(host);
      CHECK(judged({.host = host}) == 403);
      CHECK(judged({.line = "GET / HTTP/1.1", .host = host, .token = ""}) == 403);
      CHECK(judged({.line = "GET /healthz HTTP/1.1", .host = host, .token = ""}) == 403);
    }
    CHECK(judged({.more = "Host: 127.0.0.1:8642\r\n"}) == 403);
  }

  TEST_CASE("a port of 80 needs no number; a wildcard address names nobody") {
    auto by = door();
    by.port = 80;
    CHECK(judged({.host = "127.0.0.1"}, by) == 0);
    CHECK(judged({.host = "127.0.0.1:80"}, by) == 0);
    by = door();
    by.host = "0.0.0.0";
    CHECK(judged({.host = "0.0.0.0:8642"}, by) == 403);
    by.host = "2001:db8::1";
    CHECK(judged({.host = "[2001:db8::1]:8642"}, by) == 0);
    CHECK(page_url(by) == "http://[2001:db8::1]:8642/");
  }

  TEST_CASE("a page of another origin gets nothing, even with the token") {
    for (char const* const origin : {"http://evil.example",
                                     "null",
                                     "http://127.0.0.1:8000",
                                     "http://localhost:8642",
                                     "https://127.0.0.1:8642.evil.example",
                                     "http://127.0.0.1:8642/",
                                     "file://",
                                     ""}) {
      CAPTURE(origin);
      CHECK(judged({.more = cat("Origin: ", origin, "\r\n")}) == 403);
      CHECK(judged({.line = "GET /waggle.js HTTP/1.1", .more = cat("Origin: ", origin, "\r\n")}) ==
            403);
    }
    CHECK(judged({.more = "Origin: http://127.0.0.1:8642\r\nOrigin: http://evil.example\r\n"}) ==
          403);
    // What browsers say where they send no Origin.
    for (char const* const site : {"cross-site", "same-site", "other", ""}) {
      CAPTURE(site);
      auto const more = cat("Sec-Fetch-Site: ", site, "\r\n");
      CHECK(judged({.more = more}) == 403);
      CHECK(judged({.line = "GET /waggle.js HTTP/1.1", .more = more}) == 403);
      CHECK(judged({.line = "GET / HTTP/1.1", .more = more + "Sec-Fetch-Mode: no-cors\r\n"}) ==
            403);
      // A link to the page may be followed: it shows nothing without the token.
      CHECK(judged({.line = "GET / HTTP/1.1", .more = more + "Sec-Fetch-Mode: navigate\r\n"}) == 0);
      CHECK(judged({.line = "GET /metrics HTTP/1.1",
                    .more = more + "Sec-Fetch-Mode: navigate\r\n"}) == 403);
    }
  }

  TEST_CASE("without the token there is the page and health, and nothing else") {
    for (char const* const path :
         {"/", "/waggle.js", "/waggle.css", "/words.js", "/icon.svg", "/healthz"}) {
      CAPTURE(path);
      CHECK(judged({.line = cat("GET ", path, " HTTP/1.1"), .token = ""}) == 0);
      CHECK(judged({.line = cat("POST ", path, " HTTP/1.1")}) == 405);
    }
    for (char const* const path : {"/v1/snapshot",
                                   "/v1/events",
                                   "/v1/log",
                                   "/v1/page",
                                   "/metrics",
                                   "/nothing",
                                   "/waggle.js/",
                                   "//",
                                   "/%76%31/snapshot"}) {
      CAPTURE(path);
      for (auto const& token : {std::string(),
                                std::string(63, 'a'),
                                std::string(65, 'a'),
                                std::string(64, 'b'),
                                kToken.substr(0, 63) + "b",
                                kToken + " "}) {
        CAPTURE(token);
        // A blank at the end is no part of a header's value.
        int const wanted = token == kToken + " " ? 0 : 401;
        CHECK(judged({.line = cat("GET ", path, " HTTP/1.1"), .token = token}) == wanted);
      }
    }
    CHECK(judged({.token = "", .more = "Cookie: token=" + kToken + "\r\n"}) == 401);
    CHECK(judged({.token = "", .more = "Authorization: Basic " + kToken + "\r\n"}) == 401);
    CHECK(judged({.token = "", .more = "Authorization: bearer " + kToken + "\r\n"}) == 0);
    CHECK(judged({.more = "Authorization: Bearer " + kToken + "\r\n"}) == 401);
    CHECK(judged({.line = "GET /v1/snapshot?token=" + kToken + " HTTP/1.1", .token = ""}) == 401);
    auto by = door();
    by.token = "";
    CHECK(judged({.token = ""}, by) == 401);
    CHECK(judged({.token = "", .more = "Authorization: Bearer \r\n"}, by) == 401);
  }

  TEST_CASE("a command is declared as JSON, which no form can") {
    auto const post = [](std::string const& type) {
      return judged({.line = "POST /v1/commands HTTP/1.1", .more = type});
    };
    CHECK(post("Content-Type: application/json\r\n") == 0);
    CHECK(post("Content-Type: Application/JSON ; charset=utf-8\r\n") == 0);
    CHECK(post("") == 415);
    CHECK(post("Content-Type: text/plain\r\n") == 415);
    CHECK(post("Content-Type: application/x-www-form-urlencoded\r\n") == 415);
    CHECK(post("Content-Type: multipart/form-data; boundary=application/json\r\n") == 415);
    CHECK(post("Content-Type: application/json\r\nContent-Type: text/plain\r\n") == 415);
    CHECK(post("Content-Type: application/jsonp\r\n") == 415);
  }

  TEST_CASE("other methods, a preflight among them, are refused") {
    for (char const* const method : {"OPTIONS", "PUT", "DELETE", "TRACE", "PATCH"}) {
      CAPTURE(method);
      CHECK(judged({.line = cat(method, " /v1/commands HTTP/1.1")}) == 405);
    }
    CHECK(judged({.line = "HEAD /v1/snapshot HTTP/1.1"}) == 0);
    CHECK(judged({.line = "HEAD /v1/snapshot HTTP/1.1", .token = ""}) == 401);
  }

  TEST_CASE("only loopback is this machine's alone") {
    CHECK(is_loopback("127.0.0.1"));
    CHECK(is_loopback("127.8.9.1"));
    CHECK(is_loopback("::1"));
    CHECK(!is_loopback("0.0.0.0"));
    CHECK(!is_loopback("192.168.1.2"));
    CHECK(!is_loopback("::"));
  }
}
