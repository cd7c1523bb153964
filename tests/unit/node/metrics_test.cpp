// SPDX-License-Identifier: MIT
#include "core/node/metrics.hpp"

#include <regex>
#include <sstream>

#include <doctest/doctest.h>

using namespace waggle::node;

TEST_CASE("metrics are in Prometheus' text form: every sample follows its HELP and TYPE") {
  Snapshot snapshot;
  TaskView task;
  task.prefix = "fashion";
  task.loss = 0.25;
  snapshot.tasks.push_back(task);
  std::istringstream text(to_metrics(snapshot));
  std::regex const sample(R"re(^(waggle_[a-z_]+)(\{prefix="[a-z0-9_-]+"\})? -?[0-9][0-9.e+-]*$)re");
  std::string line;
  std::string described;
  std::size_t samples = 0;
  while (std::getline(text, line)) {
    if (line.rfind("# TYPE ", 0) == 0) described = line.substr(7, line.find(' ', 7) - 7);
    if (line[0] == '#') continue;
    std::smatch match;
    REQUIRE_MESSAGE(std::regex_match(line, match, sample), line);
    CHECK(match[1] == described);
    ++samples;
  }
  CHECK(samples > 10);
}
