// SPDX-License-Identifier: MIT
#include "installer/launcher/trailer.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using launcher::kTrailerBytes;
using launcher::parse_trailer;

namespace {

std::string trailer(std::string text) {
  text.resize(kTrailerBytes, '\n');
  return text;
}

std::string const kHash(64, 'a');
std::string const kGood =
    "waggle-payload 1\nsize 1000\nblake2b " + kHash + "\nunpacked 5000\nversion 0.1.0\n";

}  // namespace

TEST_SUITE("trailer") {
  TEST_CASE("what make-single-file writes is read") {
    auto const read = parse_trailer(trailer(kGood), 5000);
    REQUIRE(read);
    CHECK(read->size == 1000);
    CHECK(read->blake2b == kHash);
    CHECK(read->unpacked == 5000);
    CHECK(read->version == "0.1.0");
  }

  TEST_CASE("a file without one is a launcher alone") {
    CHECK(parse_trailer(trailer("anything"), 5000).error().code == Errc::not_found);
    CHECK(parse_trailer("", 0).error().code == Errc::not_found);
  }

  TEST_CASE("a trailer that cannot be true is refused") {
    auto const code = [](std::string const& text, std::uint64_t size) {
      auto const read = parse_trailer(trailer(text), size);
      REQUIRE_FALSE(read);
      return read.error().code;
    };
    // The file is shorter than it says: a download that broke off.
    CHECK(code(kGood, 1000 + kTrailerBytes - 1) == Errc::malformed);
    CHECK(parse_trailer(trailer(kGood), 1000 + kTrailerBytes).has_value());
    CHECK(code("waggle-payload 1\nsize x\nblake2b " + kHash + "\nunpacked 1\nversion 1\n", 5000) ==
          Errc::malformed);
    CHECK(code("waggle-payload 1\nsize 1\nblake2b " + kHash.substr(1) + "\nunpacked 1\nversion 1\n",
               5000) == Errc::malformed);
    CHECK(code("waggle-payload 1\nsize 1\nblake2b " + std::string(64, 'Z') +
                   "\nunpacked 1\nversion 1\n",
               5000) == Errc::malformed);
    CHECK(code("waggle-payload 1\nsize 0\nblake2b " + kHash + "\nunpacked 1\nversion 1\n", 5000) ==
          Errc::malformed);
    CHECK(code("waggle-payload 1\nsize 1\nblake2b " + kHash + "\nunpacked 5000000000\nversion 1\n",
               5000) == Errc::too_large);
    CHECK(code(kGood + "more", 5000) == Errc::malformed);
  }
}
