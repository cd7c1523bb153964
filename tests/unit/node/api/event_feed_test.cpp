// SPDX-License-Identifier: MIT
#include "core/node/api/event_feed.hpp"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle::node;

namespace {

constexpr auto kNow = std::chrono::milliseconds(0);

std::string next(EventFeed::Listener& listener) {
  std::string out;
  CHECK(listener.next(out, kNow));
  return out;
}

}  // namespace

TEST_SUITE("EventFeed") {
  TEST_CASE("tells what comes from now on, numbered") {
    EventFeed feed;
    feed.publish("{\"old\":1}");
    auto const listener = feed.listen(std::nullopt);
    CHECK(next(*listener).empty());
    feed.publish("{\"a\":1}");
    feed.publish("{\"b\":1}");
    CHECK(next(*listener) == "id: 2\ndata: {\"a\":1}\n\nid: 3\ndata: {\"b\":1}\n\n");
    CHECK(next(*listener).empty());
  }

  TEST_CASE("begins after a number, with all that is kept, or anew after a restart") {
    EventFeed feed;
    feed.publish("1");
    feed.publish("2");
    CHECK(next(*feed.listen(0)) == "id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
    CHECK(next(*feed.listen(1)) == "id: 2\ndata: 2\n\n");
    CHECK(next(*feed.listen(2)).empty());
    CHECK(next(*feed.listen(70)) == "id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n");
  }

  TEST_CASE("who is slow loses the oldest") {
    EventFeed feed;
    auto const listener = feed.listen(std::nullopt);
    for (std::size_t i = 0; i < EventFeed::kKept + 5; ++i) feed.publish("x");
    auto const got = next(*listener);
    CHECK(got.rfind("id: 6\n", 0) == 0);
  }

  TEST_CASE("only so many listen; who leaves makes room") {
    EventFeed feed;
    std::vector<std::shared_ptr<EventFeed::Listener>> all;
    for (std::size_t i = 0; i < EventFeed::kListeners; ++i) all.push_back(feed.listen(0));
    CHECK(feed.listen(0) == nullptr);
    all.pop_back();
    CHECK(feed.listen(0) != nullptr);
  }

  TEST_CASE("wakes who waits, for an event and for the end") {
    EventFeed feed;
    std::string out;
    bool going = true;
    std::thread listener([&, me = feed.listen(0)] {
      while (going) going = me->next(out, std::chrono::seconds(20));
    });
    feed.publish("x");
    feed.close();
    listener.join();
    CHECK(!going);
  }
}
