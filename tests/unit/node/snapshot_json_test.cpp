// SPDX-License-Identifier: MIT
#include "core/node/snapshot_json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace waggle::node;

TEST_CASE("a snapshot's JSON carries the schema, every task and null where nothing is known") {
  Snapshot snapshot;
  snapshot.peer_id = "12D3KooW";
  TaskView task;
  task.prefix = "fashion";
  task.epoch = 12;
  task.last_round = RoundView{.epoch = 12, .outcome = "averaged", .group = {"a", "b"}};
  snapshot.tasks.push_back(task);
  snapshot.peers.push_back({.id = "b", .round_trip_ms = 1.5});
  auto const json = nlohmann::json::parse(to_json(snapshot));
  CHECK(json.at("schema") == 1);
  CHECK(json.at("tasks").at(0).at("epoch") == 12);
  CHECK(json.at("tasks").at(0).at("loss").is_null());
  CHECK(json.at("tasks").at(0).at("last_round").at("group").size() == 2);
  CHECK(json.at("peers").at(0).at("round_trip_ms") == 1.5);
}

TEST_CASE("text that is not UTF-8 is replaced, not thrown at the reader") {
  Snapshot snapshot;
  snapshot.notices.push_back("bad \xff byte");
  CHECK(to_json(snapshot).find('\n') == std::string::npos);
  CHECK(nlohmann::json::parse(to_json(snapshot)).at("notices").size() == 1);
}
