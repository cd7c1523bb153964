// SPDX-License-Identifier: MIT
#include "core/node/control/rights.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::node;
using namespace waggle::node::control;
using Kind = Command::Kind;

TEST_SUITE("rights") {
  TEST_CASE("who may only watch gives no command at all") {
    for (auto const kind : {Kind::pause,
                            Kind::resume,
                            Kind::finish,
                            Kind::stop,
                            Kind::measure,
                            Kind::set,
                            Kind::join,
                            Kind::leave,
                            Kind::pair,
                            Kind::unpair}) {
      auto const may = may_give(Right::watch, {.kind = kind, .name = "power"});
      REQUIRE_FALSE(may);
      CHECK(may.error().code == Errc::refused);
    }
  }

  TEST_CASE("who may control steers a task and the guest's limits") {
    for (auto const kind : {Kind::pause,
                            Kind::resume,
                            Kind::finish,
                            Kind::stop,
                            Kind::measure,
                            Kind::join,
                            Kind::leave,
                            Kind::look,
                            Kind::browse})
      CHECK(may_give(Right::control, {.kind = kind}));
    for (auto const* const name : {"power",
                                   "threads",
                                   "cpu_share",
                                   "disk_gib",
                                   "max_upload",
                                   "daily_traffic",
                                   "gpu_duty",
                                   "max_gpu_memory",
                                   "gpu_power_cap",
                                   "guest.on_battery"})
      CHECK(may_give(Right::control, {.kind = Kind::set, .name = name}));
  }

  TEST_CASE("nobody far away widens a watcher's reach") {
    CHECK_FALSE(may_give(Right::control, {.kind = Kind::pair, .name = "control"}));
    CHECK_FALSE(may_give(Right::control, {.kind = Kind::unpair, .value = "x"}));
    for (auto const* const name :
         {"host", "port", "peer", "client", "api.port", "trainer", "guest", "", "team", "powers"}) {
      CAPTURE(name);
      CHECK_FALSE(may_give(Right::control, {.kind = Kind::set, .name = name}));
    }
  }
}
