// SPDX-License-Identifier: MIT
#include "installer/launcher/places.hpp"

#include <map>

#include <doctest/doctest.h>

namespace {

std::vector<std::string> paths(std::map<std::string, std::string> const& environment) {
  std::vector<std::string> out;
  auto const get = [&environment](char const* name) -> char const* {
    auto const found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  for (auto const& place : waggle::launcher::places(get, 1000)) out.push_back(place.path());
  return out;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_SUITE("places") {
  TEST_CASE("the user's cache comes first, then what a home without programs leaves") {
    CHECK(paths({{"HOME", "/home/a"},
                 {"XDG_CACHE_HOME", "/c/"},
                 {"XDG_RUNTIME_DIR", "/run/user/1000"}}) == Paths{"/c/waggle",
                                                                  "/home/a/.cache/waggle",
                                                                  "/var/tmp/waggle-1000",
                                                                  "/run/user/1000/waggle",
                                                                  "/dev/shm/waggle-1000"});
  }

  TEST_CASE("what is empty, relative or the root counts as not set") {
    Paths const bare{"/var/tmp/waggle-1000", "/dev/shm/waggle-1000"};
    CHECK(paths({}) == bare);
    CHECK(paths({{"HOME", ""}, {"XDG_CACHE_HOME", "cache"}, {"XDG_RUNTIME_DIR", "."}}) == bare);
    CHECK(paths({{"HOME", "/"}}) == bare);
  }
}
