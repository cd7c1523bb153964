// SPDX-License-Identifier: MIT
#include "tests/support/vectors.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

namespace waggle::test {

nlohmann::json const& vectors(std::string const& name) {
  static std::map<std::string, nlohmann::json> loaded;
  auto const found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  char const* const root = std::getenv("WAGGLE_SOURCE_DIR");
  std::string const path =
      std::string(root != nullptr ? root : ".") + "/tests/vectors/" + name + ".json";
  std::ifstream file(path);
  REQUIRE_MESSAGE(
      file, "cannot open ", path, " (run from the source tree or set WAGGLE_SOURCE_DIR)");
  return loaded.emplace(name, nlohmann::json::parse(file)).first->second;
}

Bytes unhex(nlohmann::json const& text) {
  auto bytes = from_hex(text.get<std::string>());
  REQUIRE(bytes);
  return *std::move(bytes);
}

void announce(std::string const& group, std::size_t cases) {
  std::printf("vectors %s: %zu cases\n", group.c_str(), cases);
}

}  // namespace waggle::test
