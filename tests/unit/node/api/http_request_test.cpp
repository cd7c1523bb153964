// SPDX-License-Identifier: MIT
#include "core/node/api/http_request.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::string head(std::string const& line, std::string const& headers = "") {
  return line + "\r\n" + headers + "\r\n";
}

}  // namespace

TEST_SUITE("HttpRequest") {
  TEST_CASE("reads method, path, query and headers") {
    auto const got = parse_head(head("GET /v1/log?after=12&level=warning HTTP/1.1",
                                     "Host: box \r\nX-Empty:\r\nA: \t b c\r\n"));
    REQUIRE(got);
    CHECK(got->method == "GET");
    CHECK(got->path == "/v1/log");
    CHECK(got->query == "after=12&level=warning");
    CHECK(got->header("host") == "box");
    CHECK(got->header("x-empty") == "");
    CHECK(got->header("a") == "b c");
    CHECK(!got->header("b"));
    CHECK(got->parameter("after") == "12");
    CHECK(got->parameter("level") == "warning");
    CHECK(!got->parameter("eve"));
    CHECK(parse_head(head("GET /?a&b=&=c&d=1 HTTP/1.0"))->parameter("b") == "");
  }

  TEST_CASE("a header that is there twice has no value") {
    auto const got = parse_head(head("GET / HTTP/1.1", "Host: a\r\nhost: b\r\n"));
    REQUIRE(got);
    CHECK(got->count("host") == 2);
    CHECK(!got->header("host"));
  }

  TEST_CASE("nothing is decoded: another spelling is another path") {
    CHECK(parse_head(head("GET /%76%31/snapshot HTTP/1.1"))->path == "/%76%31/snapshot");
    CHECK(parse_head(head("GET //v1/../metrics HTTP/1.1"))->path == "//v1/../metrics");
  }

  TEST_CASE("refuses what is not one plain request") {
    for (auto const& bad : {std::string(),
                            std::string("\r\n\r\n"),
                            std::string("GET / HTTP/1.1\n\n"),
                            std::string("GET / HTTP/1.1\r\nHost: a\r\n"),
                            head("GET /"),
                            head("GET  / HTTP/1.1"),
                            head("GET / HTTP/1.1 "),
                            head("GET / HTTP/2"),
                            head("get / HTTP/1.1"),
                            head("GET http://box/ HTTP/1.1"),
                            head("GET * HTTP/1.1"),
                            head("CONNECT box:80 HTTP/1.1"),
                            head("GET /#x HTTP/1.1"),
                            head("GET /\x01 HTTP/1.1"),
                            head("GET /\xc3\xa4 HTTP/1.1"),
                            head("AVERYLONGMETHODNAME / HTTP/1.1"),
                            head("GET / HTTP/1.1", "no colon\r\n"),
                            head("GET / HTTP/1.1", ": empty\r\n"),
                            head("GET / HTTP/1.1", "Host : a\r\n"),
                            head("GET / HTTP/1.1", "A: b\r\n folded\r\n"),
                            head("GET / HTTP/1.1", "A: b\nC: d\r\n"),
                            head("GET / HTTP/1.1", "A: b\rC: d\r\n"),
                            head("GET / HTTP/1.1", std::string("A: b\0c\r\n", 8)),
                            head("GET / HTTP/1.1") + "GET /again HTTP/1.1\r\n\r\n"}) {
      CAPTURE(bad);
      auto const got = parse_head(bad);
      REQUIRE(!got);
      CHECK(got.error().code == Errc::malformed);
    }
  }

  TEST_CASE("its limits are named") {
    std::string many;
    for (std::size_t i = 0; i < kMaxHeaders; ++i) many += cat("H", i, ": v\r\n");
    CHECK(parse_head(head("GET / HTTP/1.1", many)));
    auto const over = parse_head(head("GET / HTTP/1.1", many + "One: more\r\n"));
    REQUIRE(!over);
    CHECK(over.error().code == Errc::too_large);
    auto const large = parse_head(head("GET /" + std::string(kMaxHeadBytes, 'x') + " HTTP/1.1"));
    REQUIRE(!large);
    CHECK(large.error().detail.find("8192") != std::string::npos);
  }

  TEST_CASE("a body has one plain length") {
    auto const length = [](std::string const& headers) {
      auto const got = parse_head(head("POST / HTTP/1.1", headers));
      REQUIRE(got);
      return body_length(*got);
    };
    CHECK(length("").value_or(9) == 0);
    CHECK(length("Content-Length: 12\r\n").value_or(9) == 12);
    for (char const* const bad : {"Content-Length: 12\r\nContent-Length: 12\r\n",
                                  "Content-Length: -1\r\n",
                                  "Content-Length: +1\r\n",
                                  "Content-Length: 1 2\r\n",
                                  "Content-Length:\r\n",
                                  "Content-Length: 99999999999999999999999\r\n",
                                  "Transfer-Encoding: chunked\r\n",
                                  "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                                  "Content-Encoding: gzip\r\nContent-Length: 3\r\n"}) {
      CAPTURE(bad);
      CHECK(!length(bad));
    }
    auto const large = length("Content-Length: 65537\r\n");
    REQUIRE(!large);
    CHECK(large.error().code == Errc::too_large);
  }
}
