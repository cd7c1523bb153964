// SPDX-License-Identifier: MIT
#include "core/node/doctor.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

Finding const* find(std::vector<Finding> const& findings, std::string const& what) {
  auto const found =
      std::find_if(findings.begin(), findings.end(), [&](auto const& f) { return f.what == what; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("doctor names a key that others may read") {
  test::Folder const folder;
  Options options;
  options.data_dir = folder.path;
  REQUIRE(write_file(folder.path / "identity.key", as_bytes("x"), FileMode::shared));
  auto findings = examine(options);
  REQUIRE(find(findings, "identity.key") != nullptr);
  CHECK(find(findings, "identity.key")->grade == Finding::Grade::warning);
}
