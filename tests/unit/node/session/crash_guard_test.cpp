// SPDX-License-Identifier: MIT
#include "core/node/session/crash_guard.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using node::CrashGuard;

TEST_SUITE("CrashGuard") {
  TEST_CASE("the fifth failure in a row is one too many, and then it counts anew") {
    CrashGuard guard;
    for (int round = 0; round < 3; ++round) {
      for (int i = 1; i < 5; ++i) {
        CHECK(!guard.failed());
        CHECK(guard.failures() == i);
      }
      CHECK(guard.failed());
      CHECK(guard.failures() == 0);
    }
  }

  TEST_CASE("it goes on from what was counted before") {
    CrashGuard guard(3);
    CHECK(!guard.failed());
    CHECK(guard.failures() == 4);
    CHECK(guard.failed());
    CHECK(guard.failures() == 0);
  }

  TEST_CASE("what a second try cannot mend is not tried again") {
    for (auto const code : {Errc::closed, Errc::timeout, Errc::io, Errc::too_large})
      CHECK(CrashGuard::may_pass(Error{code, ""}));
    for (auto const code : {Errc::cancelled, Errc::invalid, Errc::malformed, Errc::not_found})
      CHECK(!CrashGuard::may_pass(Error{code, ""}));
  }

  TEST_CASE("the reason is one line, however long the trainer's last words are") {
    CHECK(node::crash_reason(Error{Errc::closed, "killed by signal 9"}) ==
          "the trainer failed 5 times in a row: killed by signal 9");
    CHECK(node::crash_reason(Error{Errc::too_large, "out of memory"}) ==
          "the trainer failed 5 times in a row: out of memory; it needs more memory than "
          "max_memory (on a GPU, max_gpu_memory), or this computer, allows");
    std::string words = "a\nb\tc";
    for (int i = 0; i < 1000; ++i) words += "蜂";
    auto const reason = node::crash_reason(Error{Errc::closed, words});
    CHECK(reason.size() <= 400);
    CHECK(reason.find('\n') == std::string::npos);
    CHECK(reason.find(": a b c蜂") != std::string::npos);
    CHECK(reason.ends_with("蜂 …"));
  }
}
