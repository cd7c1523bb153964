// SPDX-License-Identifier: MIT
#include "core/base/fd.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

using namespace waggle;

namespace {

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

Fd open_null() {
  Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  return fd;
}

}  // namespace

TEST_SUITE("Fd") {
  TEST_CASE("closes what it owns, once") {
    int raw = -1;
    {
      auto const fd = open_null();
      raw = fd.get();
      CHECK(is_open(raw));
    }
    CHECK(!is_open(raw));
    auto fd = open_null();
    raw = fd.get();
    fd.reset();
    CHECK(!fd);
    CHECK(!is_open(raw));
    fd.reset();
  }

  TEST_CASE("moving passes the descriptor on and leaves nothing behind") {
    auto first = open_null();
    int const raw = first.get();
    Fd second(std::move(first));
    CHECK(!first);  // NOLINT(bugprone-use-after-move)
    CHECK(second.get() == raw);
    auto third = open_null();
    int const replaced = third.get();
    third = std::move(second);
    CHECK(!is_open(replaced));
    CHECK(third.get() == raw);
    auto& same = third;
    third = std::move(same);
    CHECK(third.get() == raw);
    CHECK(is_open(raw));
  }

  TEST_CASE("release gives it away open") {
    auto fd = open_null();
    int const raw = fd.release();
    CHECK(!fd);
    CHECK(is_open(raw));
    Fd const again(raw);
  }

  TEST_CASE("none is none") {
    CHECK(!Fd{});
    CHECK(!Fd{-1});
    CHECK(Fd{}.get() == -1);
  }
}
