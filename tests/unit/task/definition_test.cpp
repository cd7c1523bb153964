// SPDX-License-Identifier: MIT
#include "core/task/definition.hpp"

#include <cstdlib>
#include <filesystem>
#include <random>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::task;

namespace {

std::string example(std::string const& name) {
  char const* source = std::getenv("WAGGLE_SOURCE_DIR");
  std::filesystem::path const root = source ? source : ".";
  auto const content = read_file(root / "assets/tasks" / name / "task.toml", 1 << 20);
  REQUIRE_MESSAGE(content, content.error().detail);
  return to_string(*content);
}

std::string const kSmall = R"([task]
prefix = "p"
title = "t"
[model]
family = "resnet"
[data]
format = "idx-images"
train = ["a", "b"]
test = ["c", "d"]
licence = "MIT"
)";

/// `from` in kSmall replaced by `to`.
std::string changed(std::string const& from, std::string const& to) {
  auto text = kSmall;
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string const& toml) {
  auto const parsed = Definition::parse(toml, "task.toml");
  REQUIRE_MESSAGE(!parsed, toml);
  CHECK(parsed.error().code == Errc::invalid);
  return parsed.error().detail;
}

void refuses(std::string const& toml, std::string const& expected) {
  auto const detail = refusal(toml);
  CHECK_MESSAGE(detail.find(expected) != std::string::npos, cat(detail, " | wanted: ", expected));
}

}  // namespace

TEST_CASE("the classes' names are one a class, and travel only where there are some") {
  auto const with =
      changed("licence = \"MIT\"", "licence = \"MIT\"\nlabels = [\"a shirt\", \"a shoe\"]");
  auto const classes = [&](int n) {
    auto text = with;
    auto const at = text.find("[data]");
    return text.insert(at, cat("classes = ", n, "\n"));
  };
  auto const parsed = Definition::parse(classes(2), "task.toml");
  REQUIRE_MESSAGE(parsed, parsed.error().detail);
  CHECK(parsed->data.labels == std::vector<std::string>{"a shirt", "a shoe"});
  CHECK(*Definition::parse(parsed->to_toml(), "again") == *parsed);
  // The trainer refuses fields that it does not know.
  CHECK(parsed->trainer_json().find("labels") == std::string::npos);
  auto const without = Definition::parse(kSmall, "task.toml");
  REQUIRE(without);
  CHECK(without->to_toml().find("labels") == std::string::npos);
  refuses(classes(3), "data.labels: expected one name a class (model.classes is 3), found 2");
  auto hollow = classes(2);
  refuses(hollow.replace(hollow.find("a shoe"), 6, ""),
          "data.labels: expected names of 1 to 60 bytes");
  auto text = with;
  text.replace(text.find("idx-images"), 10, "text").replace(text.find("resnet"), 6, "gpt");
  refuses(text, "data.labels: only where data.format is idx-images");
}

TEST_CASE("a preview travels only where there is one, and not to the trainer") {
  auto const with = changed("licence = \"MIT\"", "licence = \"MIT\"\npreview = 8");
  auto const parsed = Definition::parse(with, "task.toml");
  REQUIRE_MESSAGE(parsed, parsed.error().detail);
  CHECK(parsed->data.preview == 8);
  CHECK(*Definition::parse(parsed->to_toml(), "again") == *parsed);
  CHECK(parsed->trainer_json().find("preview") == std::string::npos);
  auto const without = Definition::parse(kSmall, "task.toml");
  REQUIRE(without);
  CHECK(without->to_toml().find("preview") == std::string::npos);
  refuses(changed("licence = \"MIT\"", "licence = \"MIT\"\npreview = 9"), "data.preview");
}

TEST_SUITE("Definition") {
  TEST_CASE("reads the example tasks, and what it writes reads back equal") {
    for (std::string const name : {"fashion", "bible-gpt"}) {
      CAPTURE(name);
      auto const parsed = Definition::parse(example(name), "task.toml");
      REQUIRE_MESSAGE(parsed, parsed.error().detail);
      auto const text = parsed->to_toml();
      auto const again = Definition::parse(text, "written");
      REQUIRE_MESSAGE(again, again.error().detail);
      CHECK(*again == *parsed);
      CHECK(again->to_toml() == text);
    }
    auto const fashion = Definition::parse(example("fashion"), "f");
    CHECK(fashion->model.depth == 8);
    CHECK(fashion->model.width == 32);
    CHECK(fashion->model.stem == "cifar-s2");
    CHECK(fashion->swarm.target_batch_size == 512);
    CHECK(fashion->swarm.compression == "size_adaptive");
    auto const gpt = Definition::parse(example("bible-gpt"), "g");
    CHECK(gpt->train.beta2 == 0.99);
    CHECK(gpt->data.test_fraction == 0.1);
  }

  TEST_CASE("takes defaults for what is left out") {
    auto const parsed = Definition::parse(kSmall, "task.toml");
    REQUIRE_MESSAGE(parsed, parsed.error().detail);
    CHECK(parsed->model.depth == 18);
    CHECK(parsed->train.learning_rate == 0.1);
    CHECK(parsed->swarm.method == "sync");
    CHECK(parsed->to_toml().find("layers") == std::string::npos);
  }

  TEST_CASE("refuses unknown fields and sections with the place and the nearest name") {
    refuses(kSmall + "[train]\nlearing_rate = 0.1\n",
            "task.toml:12:1: train.learing_rate: expected a known field, found an unknown one; did "
            "you mean learning_rate?");
    refuses(kSmall + "[train]\ntarget_batch_size = 3\n", "it belongs into [swarm]");
    refuses(kSmall + "[trian]\nmomentum = 0.5\n", "did you mean train?");
    refuses(kSmall + "[other]\n", "expected one of [task], [model]");
    refuses("train = 3\n" + kSmall, "expected the section [train], found 3");
    refuses("top = 3\n" + kSmall, "task.toml:1:7");
  }

  TEST_CASE("says what was expected and what was found") {
    refuses(kSmall + "[train]\nmomentum = 1.0\n",
            "task.toml:12:12: train.momentum: expected a number from 0 to below 1, found 1");
    refuses(kSmall + "[train]\nmomentum = \"high\"\n", "found \"high\"");
    refuses(kSmall + "[train]\nlearning_rate = 0\n", "above 0 to 1000");
    refuses(kSmall + "[train]\nlearning_rate = nan\n", "train.learning_rate: expected a number");
    refuses(kSmall + "[train]\nlearning_rate = inf\n", "train.learning_rate: expected a number");
    refuses(kSmall + "[train]\nmicro_batch = 2.5\n", "a whole number from 1 to 65536, found 2.5");
    refuses(kSmall + "[train]\nmicro_batch = -9223372036854775808\n", "found -9223372036854775808");
    refuses(kSmall + "[train]\nallow_bf16 = 1\n", "true or false, found 1");
    refuses(kSmall + "[train]\nmicro_batch = 2020-01-01\n", "found a date or time");
    refuses(changed("family = \"resnet\"", "family = \"resnt\""), "did you mean resnet?");
    refuses(changed("family = \"resnet\"", "family = \"resnet\"\ndepth = 9"),
            "model.depth: expected one of 8, 10, 18, 34, 50, found 9");
    refuses(changed("[\"a\", \"b\"]", "[\"a\", 3]"), "found 3");
    refuses(changed("title = \"t\"\n", ""),
            "task.toml:1:1: task.title: expected a text of 1 to 120 bytes, found nothing");
    refuses("", "task.toml:1:1: task.prefix");
  }

  TEST_CASE("says plainly what this version does not train yet") {
    for (std::string const family : {"bert", "albert", "vit", "dalle", "torchscript"})
      refuses(changed("\"resnet\"", cat("\"", family, "\"")), "does not train yet");
    for (std::string const method : {"local", "diloco", "gossip"})
      refuses(kSmall + cat("[swarm]\nmethod = \"", method, "\"\n"), "does not train yet");
    for (std::string const codec : {"scaled_float16", "quantile8bit", "blockwise8bit"})
      refuses(kSmall + cat("[swarm]\ncompression = \"", codec, "\"\n"), "does not train yet");
    refuses(kSmall + "[train]\noptimizer = \"lamb\"\n", "does not train yet");
    refuses(changed("\"idx-images\"", "\"tokens-u16\""), "does not train yet");
  }

  TEST_CASE("checks fields against each other") {
    refuses(kSmall + "[train]\nnesterov = true\nmomentum = 0\n",
            "task.toml:12:12: train.nesterov: expected momentum above 0");
    refuses(kSmall + "[train]\nschedule = \"cosine\"\n", "expected total_epochs above 0");
    refuses(kSmall + "[train]\nschedule = \"step\"\n", "expected step_every");
    refuses(kSmall + "[train]\nstep_every = 5\n", "only where train.schedule is step");
    refuses(kSmall + "[train]\ntotal_epochs = 5\nwarmup_epochs = 5\n",
            "less than total_epochs (5), found 5");
    refuses(kSmall + "[train]\nbeta1 = 0.5\n", "only where train.optimizer is adamw");
    refuses(kSmall + "[train]\nmicro_batch = 600\n",
            "at most swarm.target_batch_size (512), found 600");
    refuses(changed("family = \"resnet\"", "family = \"resnet\"\nlayers = 4"),
            "model.layers: only where model.family is gpt");
    refuses(changed("\"resnet\"", "\"gpt\""),
            "data.format: expected text for family gpt, found idx-images");
    refuses(changed("licence", "mean = [0.1, 0.2]\nlicence"),
            "one number a channel (model.in_channels is 1), found 2");
    refuses(changed("licence", "std = [0.0]\nlicence"), "expected numbers above 0");
    refuses(changed("[\"a\", \"b\"]", "[\"a\"]"),
            "expected an images file and a labels file, found 1");
    refuses(changed("[\"a\", \"b\"]", "[\"a\", \"a\"]"), "found \"a\" again");
    auto gpt = example("bible-gpt");
    gpt.replace(gpt.find("heads = 4"), 9, "heads = 5");
    refuses(gpt, "expected a divisor of embedding (128), found 5");
    gpt = example("bible-gpt");
    gpt.replace(gpt.find("layers = 4"), 10, "layers = 256");
    gpt.replace(gpt.find("embedding = 128"), 15, "embedding = 16384");
    refuses(gpt, "expected a model of at most");
  }

  TEST_CASE("refuses file names that leave their folder") {
    for (std::string const name : {"../x", "/etc/passwd", ".hidden", "a/b", "a\\\\b", "", "a\\nb"})
      refuses(changed("[\"a\", \"b\"]", cat("[\"", name, "\", \"b\"]")),
              "expected a plain file name");
  }

  TEST_CASE("refuses bad prefixes and the text that hivemind cuts out") {
    for (auto const& prefix :
         std::vector<std::string>{"P", "_x", "a.b", "a b", "", "é", std::string(65, 'a')})
      CHECK(refusal(changed("\"p\"", cat("\"", prefix, "\""))).find("task.prefix") !=
            std::string::npos);
    CHECK(valid_prefix(std::string(64, 'a')));
    CHECK(!valid_prefix(std::string(65, 'a')));
    CHECK(valid_prefix("fashion_resnet-2"));
    refuses(kSmall + "# [signature:abc]\n", "task.toml:11:1: the text \"[signature:\"");
    refuses(changed("\"t\"", "\"\\u005bsignature:x\""), "[signature:");
  }

  TEST_CASE("refuses what is no TOML with line and column, and what is too long") {
    refuses("[task\nprefix = 3", "task.toml:1:6");
    refuses(kSmall + "x = = 3\n", "task.toml:11:");
    refuses("\xff\xfe", "task.toml:1:");
    refuses("a = ¾>\n", "task.toml:1:");
    refuses("¾ = 1\n", "task.toml:1:");
    refuses(std::string(40'000, '['), "task.toml:1:");
    refuses("a = " + std::string(60'000, '['), "task.toml:1:");
    refuses(kSmall + kSmall, "task.toml:");
    auto const large = Definition::parse(std::string(Definition::kMaxBytes + 1, '#'), "task.toml");
    REQUIRE(!large);
    CHECK(large.error().code == Errc::too_large);
    CHECK(large.error().detail.find("65537") != std::string::npos);
  }

  TEST_CASE("random edits of a good task never crash and never read back differently") {
    std::mt19937 random(5);
    auto const base = example("fashion");
    int good = 0;
    for (int round = 0; round < 3000; ++round) {
      auto text = base;
      for (auto edits = 1 + random() % 3; edits > 0; --edits) {
        auto const at = random() % text.size();
        switch (random() % 3) {
          case 0:
            text[at] = static_cast<char>(random());
            break;
          case 1:
            text.erase(at, random() % 8);
            break;
          default:
            text.insert(at, 1, "0123.-\"=[]\n"[random() % 11]);
        }
      }
      auto const parsed = Definition::parse(text, "t");
      if (!parsed) continue;
      ++good;
      auto const again = Definition::parse(parsed->to_toml(), "t");
      REQUIRE_MESSAGE(again, again.error().detail);
      CHECK(*again == *parsed);
    }
    CHECK(good > 100);
  }

  TEST_CASE("the trainer's JSON holds every field of model, data and train") {
    auto text = changed("\"MIT\"", "\"quote \\\" back \\\\ line \\n bell \\u0007 é\"");
    auto const parsed = Definition::parse(text, "t");
    REQUIRE_MESSAGE(parsed, parsed.error().detail);
    auto const json = nlohmann::json::parse(parsed->trainer_json());
    CHECK(json.size() == 3);
    CHECK(json["model"]["depth"] == 18);
    CHECK(json["model"]["layers"] == 4);
    CHECK(json["data"]["train"] == nlohmann::json({"a", "b"}));
    CHECK(json["data"]["licence"] == parsed->data.licence);
    CHECK(json["train"]["epsilon"] == 1e-8);
    CHECK(json["train"]["nesterov"] == false);
    CHECK(json["train"]["learning_rate"].is_number_float());
  }

  TEST_CASE("the help names every field with its range and default") {
    auto const help = Definition::field_help();
    for (std::string const part :
         {"[swarm]",
          "target_batch_size: a whole number from 1 to 1000000000; default 512",
          "depth: one of 8, 10, 18, 34, 50; default 18; only for family resnet",
          "prefix: a text of 1 to 64 bytes; required"})
      CHECK_MESSAGE(help.find(part) != std::string::npos, cat(part, " not in\n", help));
  }
}
