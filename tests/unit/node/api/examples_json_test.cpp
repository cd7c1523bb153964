// SPDX-License-Identifier: MIT
#include "core/node/api/examples_json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace waggle::node;

namespace {

Examples sample() {
  Examples examples;
  examples.operator_id = "12D3KooW";
  examples.prefix = "fashion";
  examples.epoch = 41;
  examples.time = 1.5e9;
  examples.labels = {"shirt", "shoe"};
  Example picture;
  picture.channels = 1;
  picture.height = 2;
  picture.width = 3;
  picture.pixels = {0, 1, 127, 128, 254, 255};
  picture.label = 1;
  picture.guesses = {{1, 0.75}, {0, 0.25}};
  examples.items.push_back(picture);
  Example text;
  text.prompt = "In the beginning";
  text.text = " was \xff";
  examples.items.push_back(text);
  return examples;
}

}  // namespace

TEST_CASE("examples survive the way to JSON and back, but for bytes that are no text") {
  auto const back = examples_from_json(to_json(sample()));
  REQUIRE(back);
  CHECK(to_json(*back) == to_json(sample()));
  CHECK(back->epoch == 41);
  CHECK(back->labels.at(1) == "shoe");
  REQUIRE(back->items.size() == 2);
  CHECK(back->items[0].pixels == sample().items[0].pixels);
  CHECK(back->items[0].guesses.at(0).label == 1);
  CHECK(back->items[0].guesses.at(0).share == 0.75);
  CHECK(back->items[1].prompt == "In the beginning");
}

TEST_CASE("previews travel beside the examples, without guesses, cut to what a card shows") {
  Preview preview;
  preview.operator_id = "12D3KooW";
  preview.prefix = "fashion";
  preview.labels = {"shirt", "shoe"};
  preview.items = sample().items;
  preview.items[1].text = std::string(199, 'a') + "äb";
  auto const back = preview_from_json(to_json(preview));
  REQUIRE(back);
  CHECK(back->prefix == "fashion");
  CHECK(back->labels.at(1) == "shoe");
  REQUIRE(back->items.size() == 2);
  CHECK(back->items[0].pixels == preview.items[0].pixels);
  CHECK(back->items[0].guesses.empty());
  CHECK(back->items[1].text == std::string(199, 'a'));
  auto examples = sample();
  for (int i = 0; i < 20; ++i) examples.previews.push_back(*back);
  auto const read = examples_from_json(to_json(examples));
  REQUIRE(read);
  CHECK(read->previews.size() == Examples::kMostPreviews);
  CHECK(read->previews[0].items[0].pixels == preview.items[0].pixels);
  // Where there are none, the bytes are what they were before there were any.
  CHECK(to_json(sample()).find("previews") == std::string::npos);
}

TEST_CASE("a preview that is none, or too large, is refused") {
  CHECK_FALSE(preview_from_json("[]"));
  CHECK_FALSE(preview_from_json("nonsense"));
  auto const large = preview_from_json(std::string(kMaxPreviewBytes + 1, ' '));
  REQUIRE_FALSE(large);
  CHECK(large.error().detail == "a preview of 262145 bytes; at most 262144");
  auto json = nlohmann::json::parse(to_json(sample()));
  for (int i = 0; i < 50; ++i) json["items"].push_back(json["items"][0]);
  auto const many = preview_from_json(json.dump());
  REQUIRE(many);
  CHECK(many->items.size() == Preview::kMost);
}

TEST_CASE("a picture whose pixels do not fit its size is left out") {
  auto json = nlohmann::json::parse(to_json(sample()));
  for (auto const& [name, value] :
       std::vector<std::pair<char const*, nlohmann::json>>{{"width", 4},
                                                           {"width", -3},
                                                           {"height", 4'000'000'000ULL},
                                                           {"channels", 65},
                                                           {"pixels", "00zz7f80feff"},
                                                           {"pixels", 7},
                                                           {"pixels", ""}}) {
    CAPTURE(name);
    auto altered = json;
    altered["items"][0][name] = value;
    auto const read = examples_from_json(altered.dump());
    REQUIRE(read);
    CHECK(read->items.size() == 1);
  }
}

TEST_CASE("more than a window shows is cut, and shares stay shares") {
  auto json = nlohmann::json::parse(to_json(sample()));
  for (int i = 0; i < 50; ++i) json["items"].push_back(json["items"][0]);
  json["items"][0]["guesses"] = nlohmann::json::array();
  for (int i = 0; i < 9; ++i) json["items"][0]["guesses"].push_back({{"label", i}, {"share", 7.5}});
  auto const read = examples_from_json(json.dump());
  REQUIRE(read);
  CHECK(read->items.size() == Examples::kMost);
  CHECK(read->items[0].guesses.size() == Examples::kMostGuesses);
  CHECK(read->items[0].guesses[0].share == 1);
}

TEST_CASE("what is no list of examples is malformed") {
  for (auto const* const text : {"", "{}", "[]", "{\"schema\":2}", "nonsense"})
    CHECK_FALSE(examples_from_json(text));
  CHECK_FALSE(examples_from_json(std::string(2u << 20, ' ')));
  CHECK(examples_from_json("{\"schema\":1,\"items\":[7,null,{}],\"labels\":{}}")->items.empty());
}
