// SPDX-License-Identifier: MIT
#include "ui/history.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::ui;

namespace {

node::Snapshot at(double time, std::int64_t pid = 1) {
  node::Snapshot s;
  s.time = time;
  s.pid = pid;
  return s;
}

node::TaskView training(std::int64_t epoch) {
  node::TaskView t;
  t.operator_id = "op";
  t.prefix = "clothes";
  t.title = "Clothes";
  t.state = "training";
  t.epoch = epoch;
  t.samples_per_second = 50;
  t.swarm_samples_per_second = 200;
  return t;
}

std::size_t lines_with(History const& h, std::string_view words) {
  return static_cast<std::size_t>(
      std::count_if(h.lines().begin(), h.lines().end(), [&](LogLine const& l) {
        return l.text(Language::english).find(words) != std::string::npos;
      }));
}

}  // namespace

TEST_CASE("a ring forgets the oldest and never grows beyond its bound") {
  Ring ring(16);
  for (int i = 0; i < 1000; ++i) {
    ring.add(i, 2 * i);
    CHECK(ring.x().size() <= 16 + 16 / 8 + 1);
  }
  CHECK(ring.x().size() >= 16);
  CHECK(ring.last() == 1998);
  CHECK(std::is_sorted(ring.x().begin(), ring.x().end()));
  CHECK_FALSE(Ring(4).last());
}

TEST_CASE("traffic is the difference of the counters over the time between") {
  History h;
  auto s = at(100);
  h.add(s);
  CHECK(h.download().empty());
  s = at(102);
  s.socket_bytes_in = 4000;
  s.socket_bytes_out = 1000;
  h.add(s);
  CHECK(h.download().last() == 2000);
  CHECK(h.upload().last() == 500);
}

TEST_CASE("a snapshot that is not newer, or comes too soon, adds no point") {
  History h;
  h.add(at(100));
  h.add(at(102));
  auto const points = h.download().x().size();
  h.add(at(102));
  h.add(at(101));
  h.add(at(102.5));
  CHECK(h.download().x().size() == points);
}

TEST_CASE("another process begins anew but keeps the log") {
  History h;
  auto s = at(100);
  s.tasks.push_back(training(5));
  s.socket_bytes_in = 1 << 20;
  h.add(s);
  s = at(50, 2);
  s.tasks.push_back(training(1));
  h.add(s);
  CHECK(h.own_speed().x().size() == 1);
  CHECK(h.download().empty());
  CHECK(lines_with(h, "Watching the running Waggle") == 2);
}

TEST_CASE("a paused machine computes nothing in the chart") {
  History h;
  auto s = at(100);
  s.tasks.push_back(training(1));
  h.add(s);
  CHECK(h.own_speed().last() == 50);
  s = at(102);
  s.tasks.push_back(training(1));
  s.tasks[0].state = "paused";
  h.add(s);
  CHECK(h.own_speed().last() == 0);
  CHECK(h.swarm_speed().last() == 200);
}

TEST_CASE("an epoch to which this machine gave nothing has no loss") {
  History h;
  auto s = at(100);
  s.tasks.push_back(training(1));
  s.tasks[0].loss = 0;
  h.add(s);
  CHECK(h.curves(training(1))->loss.empty());
}

TEST_CASE("curves hold one point an epoch, and a measurement where it changed") {
  History h;
  for (int i = 0; i < 10; ++i) {
    auto s = at(100 + i);
    s.tasks.push_back(training(1 + i / 5));
    s.tasks[0].loss = 2.0 - i / 5;
    s.tasks[0].test_accuracy = i < 7 ? 0.25 : 0.5;
    h.add(s);
  }
  auto const* const curves = h.curves(training(0));
  REQUIRE(curves != nullptr);
  CHECK(curves->loss.x() == std::vector<double>{1, 2});
  CHECK(curves->accuracy.y() == std::vector<double>{0.25, 0.5});
  CHECK(lines_with(h, "accuracy on test data 50.0 %") == 1);
}

TEST_CASE("who comes and goes is a line each; who was there at the start is not") {
  History h;
  auto s = at(100);
  s.peers.push_back({.id = "first"});
  h.add(s);
  CHECK(lines_with(h, "first") == 0);
  s = at(102);
  s.peers.push_back({.id = "second"});
  h.add(s);
  CHECK(lines_with(h, "second connected") == 1);
  CHECK(lines_with(h, "first disconnected") == 1);
}

TEST_CASE("a peer that is not counted on has the name that it has elsewhere") {
  History h;
  auto s = at(100);
  s.peers.push_back({.id = "12D3KooWCtTrWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtim9VNL"});
  s.tasks.push_back(training(3));
  s.tasks[0].volunteers.push_back(
      {.id = "12D3KooWFiNFDBYCxTBFNrmTsRGKrUyHVoDFKTjx1hcpTUXsSp3QFX", .reason = ""});
  s.tasks[0].ignored_peers = {"…tim9VNL: claims epoch 9, the swarm is at 4",
                              "…Sp3QFX: claims epoch 9, the swarm is at 4",
                              "…nobody: claims epoch 9, the swarm is at 4"};
  h.add(s);
  h.add(at(102));
  for (auto const* const name : {"CtTr…9VNL", "FiNF…3QFX", "…nobody"})
    CHECK(lines_with(h, cat(name, ": claims epoch 9")) == 1);
}

TEST_CASE("rounds are told once each, and the reason where one was not averaged") {
  History h;
  for (int i = 0; i < 4; ++i) {
    auto s = at(100 + i);
    s.tasks.push_back(training(3));
    s.tasks[0].last_round =
        i < 2 ? node::RoundView{.epoch = 3, .outcome = "averaged", .group = {"a", "b"}}
              : node::RoundView{.epoch = 4, .outcome = "alone", .why = "nobody came"};
    h.add(s);
  }
  CHECK(lines_with(h, "averaged in a group of 2") == 1);
  CHECK(lines_with(h, "not averaged (nobody came)") == 1);
  CHECK(h.lines().back().level == LogLine::Level::warning);
}

TEST_CASE("how long a round took is said in the language, and a round alone is no problem") {
  History h;
  auto s = at(100);
  s.tasks.push_back(training(3));
  s.tasks[0].last_round =
      node::RoundView{.epoch = 3, .outcome = "averaged", .group = {"a", "b"}, .seconds = 5.39};
  h.add(s);
  CHECK(h.lines().back().text(Language::english) == "Epoch 3: averaged in a group of 2 in 5.4 s");
  CHECK(h.lines().back().text(Language::chinese) == "第 3 轮：在 2 人小组中平均，用时 5.4 秒");
  s = at(101);
  s.tasks.push_back(training(4));
  s.tasks[0].last_round = node::RoundView{.epoch = 4, .outcome = "alone", .why = "alone"};
  h.add(s);
  CHECK(h.lines().back().level == LogLine::Level::info);
  CHECK(h.lines().back().text(Language::chinese) == "第 4 轮：未平均（没有其他人）");
}

TEST_CASE("repeated lines are folded, and the log is bounded") {
  History h;
  h.add(at(1));
  h.lost(2);
  h.lost(3);
  CHECK(lines_with(h, "does not answer") == 1);
  for (int i = 0; i < 3000; ++i) {
    auto s = at(10 + i, 1);
    s.notices.push_back("n" + std::to_string(i));
    h.add(s);
  }
  CHECK(h.lines().size() <= History::kLines);
}

TEST_CASE("a log line changes its language with the window") {
  History h;
  auto s = at(100);
  s.tasks.push_back(training(1));
  s.tasks[0].state = "paused";
  s.tasks[0].reason = "paused by you";
  h.add(s);
  auto const& last = h.lines().back();
  CHECK(last.text(Language::english) == "Clothes: Paused (Paused by you)");
  CHECK(last.text(Language::chinese) == "Clothes：已暂停（已由你暂停）");
}

TEST_CASE("what the machine does is kept where it can be told, and no more cards than the bound") {
  History h;
  auto s = at(100);
  h.add(s);
  CHECK(h.processor().empty());
  CHECK(h.memory().empty());
  s = at(102);
  s.machine.cpu = 0.5;
  s.machine.memory_total = 1000;
  s.machine.memory_available = 250;
  s.machine.gpus.resize(20);
  s.machine.gpus[1].busy = 0.75;
  h.add(s);
  CHECK(h.processor().last() == 0.5);
  CHECK(h.memory().last() == 0.75);
  CHECK(h.others().empty());
  CHECK(h.graphics(0) == nullptr);
  REQUIRE(h.graphics(1) != nullptr);
  CHECK(h.graphics(1)->last() == 0.75);
  CHECK(h.graphics(History::kGraphics) == nullptr);
}
