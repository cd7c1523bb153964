// SPDX-License-Identifier: MIT
#include "core/node/api/web_page.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace waggle::node;

TEST_SUITE("web page") {
  TEST_CASE("its files are inside, with the kind of each") {
    REQUIRE(web_file("/"));
    CHECK(web_file("/")->content.substr(0, 15) == "<!doctype html>");
    CHECK(web_file("/")->type == "text/html; charset=utf-8");
    REQUIRE(web_file("/waggle.js"));
    CHECK(web_file("/waggle.js")->content.size() > 1000);
    CHECK(web_file("/icon.svg")->content.substr(0, 4) == "<svg");
    CHECK(web_file("/index.html") == nullptr);
    CHECK(web_file("") == nullptr);
  }

  TEST_CASE("it holds nothing that its own policy forbids, and asks nobody else") {
    std::string const html(web_file("/")->content);
    for (char const* const forbidden :
         {"style=", "onclick=", "onload=", "<style", "javascript:", "http://", "https://"}) {
      CAPTURE(forbidden);
      CHECK(html.find(forbidden) == std::string::npos);
    }
    std::string const script(web_file("/waggle.js")->content);
    for (char const* const forbidden : {"innerHTML",
                                        "outerHTML",
                                        "insertAdjacentHTML",
                                        "document.write",
                                        "eval(",
                                        "new Function",
                                        "document.cookie"}) {
      CAPTURE(forbidden);
      CHECK(script.find(forbidden) == std::string::npos);
    }
  }
}
