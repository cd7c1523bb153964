// SPDX-License-Identifier: MIT
#include "core/node/options.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

TEST_CASE("the data directory follows XDG, then HOME") {
  ::setenv("XDG_DATA_HOME", "/x", 1);
  CHECK(waggle::node::default_data_dir() == "/x/waggle");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/h", 1);
  CHECK(waggle::node::default_data_dir() == "/h/.local/share/waggle");
}
