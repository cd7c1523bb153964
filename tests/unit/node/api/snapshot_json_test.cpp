// SPDX-License-Identifier: MIT
#include "core/node/api/snapshot_json.hpp"

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

TEST_CASE("the rules and the machine are in it, null where the machine tells nothing") {
  Snapshot snapshot;
  snapshot.guest.resting = true;
  snapshot.guest.reason = "on battery (62 %)";
  snapshot.guest.causes = {"on battery (62 %)"};
  snapshot.machine.battery_percent = 62;
  snapshot.machine.gpus.push_back({.name = "one", .busy = 0.5});
  TaskView task;
  task.paused_by = "guest";
  snapshot.tasks.push_back(task);
  auto const json = nlohmann::json::parse(to_json(snapshot));
  CHECK(json.at("guest").at("resting") == true);
  CHECK(json.at("guest").at("reason") == "on battery (62 %)");
  CHECK(json.at("guest").at("causes").size() == 1);
  CHECK(json.at("guest").at("power") == "medium");
  CHECK(json.at("machine").at("battery_percent") == 62);
  CHECK(json.at("machine").at("celsius").is_null());
  CHECK(json.at("machine").at("gpus").at(0).at("busy") == 0.5);
  CHECK(json.at("machine").at("gpus").at(0).at("watts").is_null());
  CHECK(json.at("tasks").at(0).at("paused_by") == "guest");
}

TEST_CASE("text that is not UTF-8 is replaced, not thrown at the reader") {
  Snapshot snapshot;
  snapshot.notices.push_back("bad \xff byte");
  CHECK(to_json(snapshot).find('\n') == std::string::npos);
  CHECK(nlohmann::json::parse(to_json(snapshot)).at("notices").size() == 1);
}

TEST_CASE("a snapshot survives the way to JSON and back") {
  Snapshot snapshot;
  snapshot.version = "0.1.0";
  snapshot.time = 1.5e9;
  snapshot.socket_bytes_in = 1ull << 60;
  snapshot.addresses = {"/ip4/127.0.0.1/tcp/1"};
  snapshot.notices = {"port 31337 was busy"};
  snapshot.week = {.samples = 7, .rounds = 2, .credits = 1.25, .hours = 0.5, .kwh = 0.125};
  snapshot.by_hour.push_back({.begin = 1.5e9, .samples = 3, .hours = 0.25, .kwh = 0.5});
  snapshot.settings.push_back({.name = "power",
                               .value = "\"full\"",
                               .standard = "\"medium\"",
                               .from = "file",
                               .live = true});
  snapshot.machine.cores = 4;
  snapshot.machine.watts_per_core = 6;
  snapshot.peers.push_back({.id = "b", .relayed = true, .bytes_in = 9});
  TaskView task;
  task.title = "Clothes";
  task.epoch = -1;
  task.loss = 0.25;
  task.last_round = RoundView{.epoch = 3, .outcome = "alone", .why = "nobody", .group = {"a"}};
  task.choices = {"x", "y"};
  task.swarm_loss = 0.5;
  task.swarm_loss_peers = 3;
  task.volunteers.push_back({.id = "c", .samples_per_second = 2.5, .age = 3, .reason = "late"});
  snapshot.tasks.push_back(task);
  KnownTaskView known;
  known.source = "directory";
  known.title = "Clothes";
  known.download = 1ull << 40;
  known.fits = false;
  known.missing = "memory";
  known.choices = {"a"};
  snapshot.known_tasks.push_back(known);
  auto const back = snapshot_from_json(to_json(snapshot));
  REQUIRE(back);
  CHECK(to_json(*back) == to_json(snapshot));
  CHECK(back->tasks.at(0).loss == 0.25);
  CHECK_FALSE(back->tasks.at(0).test_loss);
  CHECK(back->tasks.at(0).last_round->why == "nobody");
  CHECK(back->tasks.at(0).choices.at(1) == "y");
  CHECK(back->tasks.at(0).swarm_loss == 0.5);
  CHECK(back->tasks.at(0).volunteers.at(0).samples_per_second == 2.5);
  CHECK(back->known_tasks.at(0).download == 1ull << 40);
  CHECK_FALSE(back->known_tasks.at(0).fits);
  CHECK(back->week.kwh == 0.125);
  CHECK(back->by_hour.at(0).samples == 3);
  CHECK(back->settings.at(0).value == "\"full\"");
  CHECK(back->settings.at(0).live);
}

TEST_CASE("fields that are missing or of another kind keep their defaults") {
  auto const read = snapshot_from_json(
      R"({"schema":1,"pid":"no number","peers":[{"id":5},7],"tasks":{},"uptime":null,"dht_table":-1,
          "contribution":[],"notices":["a",null]})");
  REQUIRE(read);
  CHECK(read->pid == 0);
  CHECK(read->peers.size() == 2);
  CHECK(read->peers.at(0).id.empty());
  CHECK(read->tasks.empty());
  CHECK(read->dht_table == 0);
  CHECK(read->notices.size() == 2);
}

TEST_CASE("what is no snapshot is malformed") {
  for (auto const* const text :
       {"", "{}", "[]", "{\"schema\":2}", "{\"schema\":\"1\"}", "nonsense"})
    CHECK_FALSE(snapshot_from_json(text));
}
