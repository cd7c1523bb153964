// SPDX-License-Identifier: MIT
#include "core/node/options.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

TEST_CASE("a loopback host is one that only this machine reaches") {
  CHECK(waggle::node::is_loopback("127.0.0.1"));
  CHECK(waggle::node::is_loopback("::1"));
  for (auto const* const host : {"0.0.0.0", "::", "192.168.1.2", "", "no address"})
    CHECK(!waggle::node::is_loopback(host));
}

TEST_CASE("the data directory follows XDG, then HOME") {
  ::setenv("XDG_DATA_HOME", "/x", 1);
  CHECK(waggle::node::default_data_dir() == "/x/waggle");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/h", 1);
  CHECK(waggle::node::default_data_dir() == "/h/.local/share/waggle");
}
