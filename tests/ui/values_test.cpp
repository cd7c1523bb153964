// SPDX-License-Identifier: MIT
#include "ui/values.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::ui;

TEST_CASE("a value that was written is read back") {
  CHECK(flag_of(literal(true)));
  CHECK_FALSE(flag_of(literal(false)));
  CHECK(number_of(literal(42)) == 42);
  CHECK(number_of(literal(1.25)) == 1.25);
  CHECK(literal(2.0) == "2.0");
  for (std::string_view const text : {"", "plain", "say \"hi\"", "back\\slash", "志愿者"})
    CHECK(text_of(literal(text)) == text);
  std::vector<std::string> const rules{"22:00-07:00", "a \"b\"", ""};
  CHECK(texts_of(literal(rules)) == rules);
  CHECK(texts_of("[]").empty());
}

TEST_CASE("what a node writes with escapes is read, and nonsense is nothing") {
  CHECK(text_of("\"a\\u0009b\"") == "a\tb");
  CHECK(text_of("7").empty());
  CHECK(number_of("\"7\"") == 0);
  CHECK(text_of("\"never ends").size() == 10);
  CHECK(text_of("\"\\").size() <= 1);
  CHECK(literal(std::string_view("one\nline")) == "\"oneline\"");
}

TEST_CASE("an edit is shown until the node says the same, or had time enough") {
  Edits edits;
  std::vector<node::SettingView> settings(1);
  settings[0].name = "power";
  settings[0].value = "\"medium\"";
  edits.note("power", "\"full\"", 100);
  edits.settle(settings, 101);
  REQUIRE(edits.find("power") != nullptr);
  CHECK(*edits.find("power") == "\"full\"");
  settings[0].value = "\"full\"";
  edits.settle(settings, 102);
  CHECK(edits.find("power") == nullptr);
  edits.note("power", "\"light\"", 200);
  edits.settle(settings, 200 + Edits::kPatience + 0.1);
  CHECK(edits.find("power") == nullptr);
}
