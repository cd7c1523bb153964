// SPDX-License-Identifier: MIT
#include "ui/task_words.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::ui;

namespace {

node::TaskView paused(std::string by, std::string reason) {
  node::TaskView task;
  task.state = "paused";
  task.paused_by = std::move(by);
  task.reason = std::move(reason);
  return task;
}

}  // namespace

TEST_SUITE("a task in words") {
  TEST_CASE("a person's pause, a rule's rest, a full disk and a given up trainer are told apart") {
    CHECK(condition_of(paused("you", "paused by you")) == "paused");
    CHECK(condition_of(paused("guest", "on battery (62 %)")) == "resting");
    CHECK(condition_of(paused("crash", "the trainer failed")) == "failed");
    CHECK(condition_of(paused("disk", "disk full")) == "full");
    node::TaskView over;
    over.state = "failed";
    over.reason = "task stripes was ended by its operator";
    CHECK(condition_of(over) == "ended");
    CHECK(outlook_of(over) == Text::until_left);
    over.reason = "its data does not fit";
    CHECK(condition_of(over) == "failed");
    // A node from before there was this field says nothing of it.
    CHECK(condition_of(paused("", "paused by you")) == "paused");
    node::TaskView training;
    training.state = "training";
    CHECK(condition_of(training) == "training");
    for (auto const* const state : {"resting", "full"})
      CHECK_FALSE(state_words(state, Language::chinese) == state);
  }

  TEST_CASE("what makes it go on is said, and whether that is a person") {
    CHECK(outlook_of(paused("guest", "")) == Text::until_over);
    CHECK(outlook_of(paused("disk", "")) == Text::until_room);
    CHECK_FALSE(waits_for_person(paused("guest", "")));
    CHECK_FALSE(waits_for_person(paused("disk", "")));
    CHECK(waits_for_person(paused("you", "paused by you")));
    CHECK(waits_for_person(paused("crash", "")));
    CHECK(waits_for_person(paused("", "paused by you")));
    CHECK_FALSE(outlook_of(paused("", "")));
    node::TaskView task;
    task.state = "training";
    CHECK_FALSE(outlook_of(task));
    task.state = "failed";
    CHECK(outlook_of(task) == Text::until_left);
    task.state = "choice";
    CHECK(outlook_of(task) == Text::until_chosen);
    task.state = "finishing";
    CHECK(outlook_of(task) == Text::finish_hint);
  }

  TEST_CASE(
      "whatever computes or goes on by itself can be paused, and what stands still can be run") {
    for (auto const* const state : {"fetching", "starting", "training"}) {
      node::TaskView task;
      task.state = state;
      CAPTURE(state);
      CHECK(offers_of(task).pause);
      CHECK_FALSE(offers_of(task).run);
      task.paused_by = "you";
      if (task.state == "training") continue;
      CHECK_FALSE(offers_of(task).pause);
      CHECK(offers_of(task).run == Text::resume);
      CHECK(outlook_of(task) == Text::until_resume);
    }
    for (auto const* const state :
         {"finding", "choice", "finishing", "done", "failed", "waiting"}) {
      node::TaskView task;
      task.state = state;
      auto const offers = offers_of(task);
      CAPTURE(state);
      CHECK_FALSE((offers.run || offers.pause || offers.finish));
    }
    for (auto const* const by : {"disk", "guest", "you", "crash", ""}) {
      auto const task = paused(by, "");
      auto const offers = offers_of(task);
      CAPTURE(by);
      CHECK(offers.finish);
      bool const by_itself =
          outlook_of(task) == Text::until_room || outlook_of(task) == Text::until_over;
      CHECK(offers.pause == by_itself);
      if (!offers.pause) CHECK(offers.run == Text::resume);
    }
    CHECK(offers_of(paused("guest", "")).run == Text::run_anyway);
    CHECK_FALSE(offers_of(paused("disk", "")).run);
    auto half = paused("disk", "");
    half.fetch_total = 2;
    half.fetch_done = 1;
    CHECK_FALSE(offers_of(half).finish);
    half.paused_by = "you";
    CHECK_FALSE(offers_of(half).finish);
  }

  TEST_CASE("the list of machines tells a rest from a pause") {
    node::Snapshot snapshot;
    Machine machine;
    tell_task(machine, snapshot);
    CHECK(machine.task.empty());
    snapshot.tasks.push_back(paused("guest", "on battery (62 %)"));
    snapshot.tasks.front().prefix = "stripes";
    tell_task(machine, snapshot);
    CHECK(machine.task == "stripes");
    CHECK(machine.task_state == "resting");
    snapshot.tasks.front().title = "Stripes";
    snapshot.tasks.front().paused_by = "you";
    tell_task(machine, snapshot);
    CHECK(machine.task == "Stripes");
    CHECK(machine.task_state == "paused");
  }

  TEST_CASE("a full disk is told in sizes that a person reads") {
    auto const full =
        paused("disk", "disk full: /data/blobs needs 32120343 bytes, 1200000 are free");
    CHECK(reason_of(full, Language::english) ==
          "The disk is full: 32.1 MB needed, 1.20 MB free, in /data/blobs");
    CHECK(reason_of(full, Language::chinese) ==
          "磁盘已满：需要 32.1 MB，可用 1.20 MB，位置：/data/blobs");
    // What no number stands in stays as the node said it.
    auto const odd =
        paused("disk", "disk full: /data needs many bytes, 99999999999999999999 are free");
    CHECK(reason_of(odd, Language::english) ==
          "Disk full: /data needs many bytes, 99999999999999999999 are free");
    CHECK(reason_of(paused("guest", "on battery (62 %)"), Language::english) ==
          "On battery (62 %)");
    CHECK(reason_of(paused("you", ""), Language::english).empty());
  }
}
