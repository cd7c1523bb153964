// SPDX-License-Identifier: MIT
#include "core/node/api/metrics.hpp"

#include <limits>
#include <regex>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

using namespace waggle::node;

namespace {

Snapshot busy() {
  Snapshot snapshot;
  snapshot.version = "1.0 \"odd\"\\\n";
  TaskView task;
  task.prefix = "fashion";
  task.operator_id = "A";
  task.state = "training";
  task.loss = 0.25;
  snapshot.tasks.push_back(task);
  task.operator_id = "B";
  task.state = "paused";
  task.loss = std::numeric_limits<double>::quiet_NaN();
  task.samples_per_second = std::numeric_limits<double>::infinity();
  snapshot.tasks.push_back(task);
  GpuView gpu;
  gpu.name = "GPU";
  gpu.busy = 0.5;
  snapshot.machine.gpus.push_back(gpu);
  return snapshot;
}

}  // namespace

TEST_SUITE("metrics") {
  TEST_CASE("every family has its head once, and no sample is there twice") {
    std::istringstream text(to_metrics(busy()));
    std::regex const sample(
        R"re(^(waggle_[a-z_]+)(\{[a-z]+="([^"\\]|\\["\\n])*"(,[a-z]+="([^"\\]|\\["\\n])*")*\})? (-?[0-9][0-9.e+-]*|NaN|[+-]Inf)$)re");
    std::string line;
    std::string described;
    std::set<std::string> families;
    std::set<std::string> series;
    while (std::getline(text, line)) {
      if (line.rfind("# TYPE ", 0) == 0) {
        described = line.substr(7, line.find(' ', 7) - 7);
        CHECK_MESSAGE(families.insert(described).second, described);
        bool const counts = line.ends_with(" counter");
        CHECK_MESSAGE(counts == described.ends_with("_total"), described);
      }
      if (line[0] == '#') continue;
      std::smatch match;
      REQUIRE_MESSAGE(std::regex_match(line, match, sample), line);
      CHECK(match[1] == described);
      CHECK_MESSAGE(series.insert(match[1].str() + match[2].str()).second, line);
    }
    CHECK(series.size() > 40);
  }

  TEST_CASE("what is unknown is left out; odd values and names are written as Prometheus does") {
    auto const text = to_metrics(busy());
    auto const has = [&](char const* part) { return text.find(part) != std::string::npos; };
    CHECK(has("waggle_build_info{version=\"1.0 \\\"odd\\\"\\\\\\n\"} 1\n"));
    CHECK(has("waggle_task_loss{prefix=\"fashion\",operator=\"A\"} 0.25\n"));
    CHECK(has("waggle_task_loss{prefix=\"fashion\",operator=\"B\"} NaN\n"));
    CHECK(has("waggle_task_samples_per_second{prefix=\"fashion\",operator=\"B\"} +Inf\n"));
    CHECK(has("waggle_task_state{prefix=\"fashion\",operator=\"A\",state=\"training\"} 1\n"));
    CHECK(has("waggle_task_state{prefix=\"fashion\",operator=\"A\",state=\"paused\"} 0\n"));
    CHECK(has("waggle_gpu_busy_ratio{gpu=\"0\",name=\"GPU\"} 0.5\n"));
    CHECK(!has("waggle_task_test_loss{"));
    CHECK(!has("waggle_gpu_power_watts{"));
    CHECK(!has("waggle_machine_cpu_ratio"));
    CHECK(to_metrics(Snapshot{}).find("waggle_peers 0\n") != std::string::npos);
  }
}
