// SPDX-License-Identifier: MIT
#include "core/node/commands.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using node::Command;
using node::Taken;

TEST_SUITE("Command") {
  TEST_CASE("comes back equal from its JSON") {
    for (auto const kind : {Command::Kind::pause,
                            Command::Kind::resume,
                            Command::Kind::finish,
                            Command::Kind::stop,
                            Command::Kind::measure,
                            Command::Kind::set,
                            Command::Kind::join,
                            Command::Kind::leave,
                            Command::Kind::look,
                            Command::Kind::browse}) {
      Command const command{kind, "fashion", 17, "waggle:fashion", "guest.on_battery", "true"};
      auto const back = Command::from_json(command.to_json());
      REQUIRE(back);
      CHECK(back->kind == kind);
      CHECK(back->prefix == "fashion");
      CHECK(back->at_epoch == 17);
      CHECK(back->link == "waggle:fashion");
      CHECK(back->name == "guest.on_battery");
      CHECK(back->value == "true");
    }
  }

  TEST_CASE("refuses what it does not know, and names it") {
    for (char const* const text : {"",
                                   "[]",
                                   "{}",
                                   "{\"command\":\"fly\"}",
                                   "{\"command\":7}",
                                   "{\"command\":\"pause\",\"speed\":3}",
                                   "{\"command\":\"join\"}",
                                   "{\"command\":\"join\",\"link\":7}",
                                   "{\"command\":\"join\",\"link\":\"waggle:NOT A PREFIX\"}",
                                   "{\"command\":\"look\"}",
                                   "{\"command\":\"leave\"}",
                                   "{\"command\":\"set\",\"value\":\"true\"}",
                                   "{\"command\":\"finish\",\"at_epoch\":\"soon\"}",
                                   "{\"command\":\"finish\",\"at_epoch\":0}",
                                   "{\"command\":\"finish\",\"at_epoch\":-7}",
                                   "{\"command\":\"finish\",\"at_epoch\":18446744073709551615}"}) {
      CAPTURE(text);
      CHECK(!Command::from_json(text));
    }
    CHECK(Command::from_json("{\"command\":\"pause\",\"speed\":3}").error().detail.find("speed") !=
          std::string::npos);
  }

  TEST_CASE("a prefix that is no UTF-8, as a terminal may type it, is none of anybody's tasks") {
    Command const typed{.kind = Command::Kind::pause, .prefix = "fashion\xff"};
    auto const sent = Command::from_json(typed.to_json());
    REQUIRE(sent);
    CHECK(!sent->names("12D3KooW", "fashion"));
    CHECK(!sent->prefix.empty());
  }

  TEST_CASE("names a task by its prefix, or by operator and prefix where two have one") {
    Command command{.kind = Command::Kind::leave, .prefix = "fashion"};
    CHECK(command.names("12D3KooW", "fashion"));
    CHECK(!command.names("12D3KooW", "fashion2"));
    command.prefix = "12D3KooW/fashion";
    CHECK(command.names("12D3KooW", "fashion"));
    CHECK(!command.names("12D3KooX", "fashion"));
    command.prefix.clear();
    CHECK(command.names("12D3KooW", "anything"));
  }
}

TEST_SUITE("Taken") {
  TEST_CASE("comes back equal from its JSON; what is not said does not hold") {
    for (auto const& taken : {Taken{true, true}, Taken{true, false}, Taken{false, true}, Taken{}}) {
      auto const back = Taken::from_json(taken.to_json());
      REQUIRE(back);
      CHECK(back->carried_out == taken.carried_out);
      CHECK(back->kept == taken.kept);
    }
    auto const vague = Taken::from_json(R"({"ok":true,"carried_out":"yes","kept":1})");
    REQUIRE(vague);
    CHECK(!vague->carried_out);
    CHECK(!vague->kept);
    for (char const* const text : {"", "[]", "true", "{"}) {
      CAPTURE(text);
      CHECK(!Taken::from_json(text));
    }
  }
}
