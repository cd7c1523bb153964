// SPDX-License-Identifier: MIT
#include "app/demo/summary.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include "app/demo/task_files.hpp"

namespace waggle::app::demo {
namespace {

std::filesystem::path source_folder() {
  char const* const source = std::getenv("WAGGLE_SOURCE_DIR");
  return source ? source : ".";
}

TEST_CASE("demo summary: names the codec of the task that it ran, whichever that is") {
  std::list<Volunteer> nobody;
  Goal goal;
  goal.task = "resnet";
  for (auto const* codec : {"size_adaptive", "uniform8bit", "none"}) {
    goal.codec = codec;
    auto const summary = summarize(goal, nobody, {}, 1, {});
    CHECK(summary["codec"] == codec);
  }
}

TEST_CASE("demo summary: its tasks are those of assets, and say which codec gradients have") {
  for (bool const text : {false, true}) {
    CAPTURE(text);
    auto const folder = source_folder() / "assets/tasks" / (text ? "bible-gpt" : "fashion");
    auto const file = read_file(folder / "task.toml", 64u << 10);
    REQUIRE(file.has_value());
    auto const written = task::Definition::parse(to_string(*file), "task.toml");
    REQUIRE(written.has_value());
    auto const embedded = demo_task(text);
    REQUIRE(embedded.has_value());
    CHECK(*embedded == *written);
    CHECK(to_string(*file).find(cat("\ncompression = \"", embedded->swarm.compression, '"')) !=
          std::string::npos);
  }
}

TEST_CASE("demo summary: the worst survivor counts, and the dead do not") {
  std::list<Volunteer> volunteers;
  for (double const accuracy : {0.9, 0.86, 0.1}) {
    auto child = Child::start({"/bin/true"}, "/dev/null");
    REQUIRE(child.has_value());
    volunteers.push_back({.name = "peer", .data_dir = {}, .process = *std::move(child)});
    volunteers.back().accuracy = accuracy;
  }
  volunteers.back().killed = true;
  Goal goal{"resnet", 0.88, 3, 600, "none"};
  CHECK_FALSE(summarize(goal, volunteers, {}, 1, {})["ok"].get<bool>());
  CHECK(summarize(goal, volunteers, {}, 1, {})["accuracy"] == 0.86);
  goal.target = 0.85;
  CHECK(summarize(goal, volunteers, {}, 1, {})["ok"].get<bool>());
  CHECK_FALSE(summarize(goal, volunteers, {}, 1, {"peer 2 ended with status 1"})["ok"].get<bool>());
}

}  // namespace
}  // namespace waggle::app::demo
