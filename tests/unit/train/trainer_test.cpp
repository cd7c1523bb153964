// SPDX-License-Identifier: MIT
#include "core/train/trainer.hpp"

#include <cmath>
#include <cstring>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.hpp"

namespace waggle::train {
namespace {

Fd file_of(ByteView bytes) {
  Fd file(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

/// A text with structure: sums written out.
Bytes sums() {
  std::string text;
  for (int i = 0; i < 900; ++i)
    text += std::to_string(i % 30) + "+" + std::to_string(i % 7) + "=" +
            std::to_string(i % 30 + i % 7) + "\n";
  return to_bytes(text);
}

struct Bench {
  explicit Bench(std::string const& json, std::vector<int> train, std::vector<int> test) {
    auto config = parse_config(json);
    REQUIRE(config);
    auto made = Trainer::make({*config, std::move(train), std::move(test), 5, 9});
    REQUIRE(made);
    trainer = std::move(*made);
    auto const& model = trainer->model();
    parameters.resize(model.parameter_values());
    gradients.resize(model.parameter_values());
    extras.resize(model.extra_values());
    statistics.resize(trainer->optimizer().statistics().size() * parameters.size());
    REQUIRE(trainer->bind({{parameters, gradients, extras}, statistics}, true));
  }

  std::unique_ptr<Trainer> trainer;
  std::vector<float> parameters, gradients, extras, statistics;
};

constexpr double kGolden0 = 5.55237246;
constexpr double kGolden9 = 3.31456804;
constexpr char kTiny[] = R"({
  "model": {"family": "gpt", "layers": 2, "heads": 2, "embedding": 32, "context": 32},
  "data": {"format": "text"},
  "train": {"optimizer": "adamw", "learning_rate": 0.005, "weight_decay": 0.01, "clip_norm": 1.0, "micro_batch": 8}})";

TEST_CASE("Trainer, a tiny transformer's golden run") {
  auto const text = file_of(sums());
  Bench bench(kTiny, {text.get()}, {});
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < 40; ++step) {
    std::fill(bench.gradients.begin(), bench.gradients.end(), 0.0f);
    auto const loss = bench.trainer->accumulate(8 * step, 8);
    REQUIRE(loss);
    for (auto& g : bench.gradients) g /= 8;
    auto const applied = bench.trainer->apply(static_cast<std::int64_t>(step), step);
    CHECK(applied.learning_rate == 0.005);
    losses.push_back(loss->loss_sum / 8);
  }
  CHECK(losses.front() == doctest::Approx(std::log(256.0)).epsilon(0.01));
  // What this seed gives; another is a change of the model, the data's order or the optimizer.
  CHECK(std::abs(losses[0] - kGolden0) < 1e-5);
  CHECK(std::abs(losses[9] - kGolden9) < 1e-5);
  CHECK(losses.back() < 2.5);
  auto const evaluation = bench.trainer->evaluate(0);
  REQUIRE(evaluation);
  CHECK(evaluation->loss < 2.5);
  CHECK(evaluation->accuracy > 0.1);
  auto const predictions = bench.trainer->predictions(1, 2);
  REQUIRE(predictions);
  CHECK(predictions->size() == 2);
  CHECK(predictions->front().prompt.size() == 16);
  CHECK(predictions->front().text.size() == 64);
}

TEST_CASE("Trainer, starts from the same weights and takes the same step on every peer's machine") {
  auto const text = file_of(sums());
  Bench a(kTiny, {text.get()}, {}), b(kTiny, {text.get()}, {});
  CHECK(a.parameters == b.parameters);
  REQUIRE(a.trainer->accumulate(3, 4));
  REQUIRE(b.trainer->accumulate(3, 4));
  CHECK(a.gradients == b.gradients);
}

TEST_CASE("Trainer, a probe tells the candidate's loss and leaves the current state alone") {
  auto const text = file_of(sums());
  Bench bench(kTiny, {text.get()}, {});
  auto candidate = bench.parameters;
  auto const own = bench.trainer->evaluate(16);
  REQUIRE(own);
  std::fill(bench.parameters.begin(), bench.parameters.end(), 0.0f);
  auto const kept = bench.parameters;
  auto const probed = bench.trainer->probe(candidate, {}, 16);
  REQUIRE(probed);
  CHECK(probed->samples == 16);
  CHECK(probed->loss == own->loss);
  CHECK(bench.parameters == kept);
  auto const zero = bench.trainer->evaluate(16);
  REQUIRE(zero);
  CHECK(zero->loss == doctest::Approx(std::log(256.0)));
}

TEST_CASE("Trainer, buffers of another size are an error that names them, and change nothing") {
  auto const text = file_of(sums());
  Bench bench(kTiny, {text.get()}, {});
  auto const own = bench.trainer->evaluate(16);
  REQUIRE(own);
  auto const kept = bench.parameters;
  auto const values = std::to_string(kept.size());
  auto const says = [](Error const& error, std::string const& words) {
    CAPTURE(error.detail);
    return error.code == Errc::invalid && error.detail.find(words) != std::string::npos;
  };
  auto longer = kept;
  longer.push_back(1);
  auto const probed = bench.trainer->probe(longer, {}, 16);
  REQUIRE(!probed);
  auto const needed = values + " are needed";
  CHECK(says(probed.error(), std::to_string(longer.size()) + " parameters, " + needed));
  std::vector<float> few(3);
  auto const extras = bench.trainer->probe(bench.parameters, few, 16);
  REQUIRE(!extras);
  CHECK(says(extras.error(), "3 extras, 0 are needed"));
  auto const gradients = bench.trainer->bind({{bench.parameters, few, {}}, bench.statistics}, true);
  REQUIRE(!gradients);
  CHECK(says(gradients.error(), "3 gradients, " + needed));
  auto const statistics = bench.trainer->bind({{bench.parameters, bench.gradients, {}}, few}, true);
  REQUIRE(!statistics);
  CHECK(says(statistics.error(), "a buffer of 3 statistics, "));
  CHECK(bench.parameters == kept);
  auto const still = bench.trainer->evaluate(16);
  REQUIRE(still);
  CHECK(still->loss == own->loss);
}

TEST_CASE("Trainer, whose own state cannot be bound after a probe says so and computes nothing") {
  auto const text = file_of(sums());
  Bench const sizes(kTiny, {text.get()}, {});
  auto const config = parse_config(kTiny);
  REQUIRE(config);
  auto made = Trainer::make({*config, {text.get()}, {}, 5, 9});
  REQUIRE(made);
  auto& trainer = **made;
  auto candidate = sizes.parameters;
  auto const words = "its own state: a buffer of 0 parameters, " +
                     std::to_string(candidate.size()) + " are needed";
  for (auto const& failed : {trainer.probe(candidate, {}, 16), trainer.evaluate(16)}) {
    REQUIRE(!failed);
    CHECK(failed.error().detail.find(words) != std::string::npos);
  }
  CHECK(!trainer.accumulate(0, 8));
  CHECK(!trainer.predictions(0, 1));
  // Once it can be bound, it goes on.
  std::vector<float> gradients(candidate.size());
  std::vector<float> statistics(2 * candidate.size());
  REQUIRE(trainer.bind({{candidate, gradients, {}}, statistics}, true));
  CHECK(trainer.accumulate(0, 8));
}

TEST_CASE("Trainer, exports what it imports") {
  auto const text = file_of(sums());
  Bench bench(kTiny, {text.get()}, {});
  Fd const file(::memfd_create("test", MFD_CLOEXEC));
  REQUIRE(bench.trainer->export_to(file.get(), {}));
  auto const kept = bench.parameters;
  std::fill(bench.parameters.begin(), bench.parameters.end(), 0.5f);
  std::fill(bench.statistics.begin(), bench.statistics.end(), 0.5f);
  REQUIRE(bench.trainer->import_from(file.get()));
  CHECK(bench.parameters == kept);
  CHECK(bench.statistics.front() == 0.0f);
  float const bad = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(::pwrite(file.get(), &bad, sizeof bad, ::lseek(file.get(), 0, SEEK_END) - 4) == 4);
  CHECK(!bench.trainer->import_from(file.get()));
  CHECK(bench.parameters == kept);
}

TEST_CASE("Trainer, without data it still initialises, exports and describes itself") {
  Bench bench(
      R"({"model": {"family": "resnet", "depth": 8, "width": 4, "stem": "cifar"}})", {}, {});
  CHECK(norm(bench.parameters) > 0);
  CHECK(bench.trainer->train_samples() == 0);
  CHECK(!bench.trainer->accumulate(0, 4));
  CHECK(!bench.trainer->evaluate(0));
  CHECK(!bench.trainer->predictions(0, 1));
  CHECK(!bench.trainer->metadata(0).empty());
}

}  // namespace
}  // namespace waggle::train
