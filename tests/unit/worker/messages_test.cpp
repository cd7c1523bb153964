// SPDX-License-Identifier: MIT
#include "core/worker/messages.hpp"

#include <doctest/doctest.h>

namespace waggle::worker {
namespace {

Facts some_facts() {
  Facts facts;
  facts.parameters = {{"a", {2, 3}}, {"b", {4}}};
  facts.extras = {{"m", {4}}};
  facts.statistics = {"exp_avg", "exp_avg_sq"};
  facts.step_tensors = true;
  facts.training_flops_per_sample = 12.5;
  facts.device = "cuda:0 f32";
  facts.can_gpu = true;
  facts.rocm = true;
  facts.gpu = "0000:65:00.0";
  facts.gpu_trouble = "none";
  return facts;
}

std::vector<Message> one_of_each() {
  Start start;
  start.config_json = "{}";
  start.seed = ~0ull;
  start.train_files = 2;
  start.gpu_memory_limit = 5;
  start.gpu = false;
  Export out;
  out.metadata = {{"format", "pt"}, {"", ""}};
  PredictedOne one;
  one.pixels = Bytes(9, std::byte{7});
  one.probabilities = {0.25f, 0.75f};
  one.text = "so";
  return {start,
          some_facts(),
          Buffers{true},
          Accumulate{5, 16, 9, 4},
          BatchDone{16, 1.5, false, 12, 11},
          Apply{-1, 3},
          Stepped{0.1, 2},
          Evaluate{1, 0},
          Evaluated{60, 0.5, 0.9, 13},
          Probe{512},
          Metadata{7},
          Blob{Bytes(3)},
          out,
          Import{},
          Done{8},
          Predict{1, 2, 3},
          Predicted{{one, one}},
          Failed{Failed::Kind::memory, "no memory"}};
}

TEST_CASE("messages, every kind comes back equal") {
  auto const all = one_of_each();
  CHECK(all.size() == std::variant_size_v<Message>);
  for (auto const& message : all) {
    auto const bytes = encode(message);
    REQUIRE(bytes);
    auto const back = decode(*bytes);
    REQUIRE(back);
    CHECK(*back == message);
  }
}

TEST_CASE("messages, nothing cut off, lengthened or of unknown kind is taken") {
  for (auto const& message : one_of_each()) {
    auto bytes = *encode(message);
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(!decode(ByteView(bytes).first(n)));
    bytes.push_back(std::byte{0});
    CHECK(!decode(bytes));
  }
  CHECK(!decode(Bytes(1, std::byte{99})));
  CHECK(!decode(Bytes(kMaxMessage + 1)));
}

TEST_CASE("messages, a length field larger than the packet allocates nothing") {
  Bytes bytes = *encode(Blob{Bytes(8)});
  for (std::size_t i = 1; i < 5; ++i) bytes[i] = std::byte{0xff};
  CHECK(!decode(bytes));
}

TEST_CASE("messages, tensors that no machine could hold are refused") {
  auto facts = some_facts();
  facts.parameters[0].shape = {1 << 20, 1 << 20, 1 << 20};
  CHECK(!decode(*encode(facts)));
  facts.parameters[0].shape = {-1};
  CHECK(!decode(*encode(facts)));
}

TEST_CASE("a probe costs about the same whatever the model") {
  Facts facts;
  CHECK(facts.probe_samples() == kProbeSamples);
  facts.training_flops_per_sample = 1e6;
  CHECK(facts.probe_samples() == kProbeSamples);
  facts.training_flops_per_sample = 0.64e9;
  CHECK(facts.probe_samples() == 100);
  facts.training_flops_per_sample = 1e12;
  CHECK(facts.probe_samples() == kFewestProbeSamples);
}

TEST_CASE("Facts, lists tensors in the orders of averaging and of a download") {
  auto const facts = some_facts();
  CHECK(facts.parameter_values() == 10);
  CHECK(facts.statistic_values() == 20);
  std::vector<std::string> averaged, download;
  for (auto const& t : facts.state_averaging()) averaged.push_back(t.name);
  for (auto const& t : facts.download()) download.push_back(t.name);
  CHECK(averaged == std::vector<std::string>{
                        "a", "b", "exp_avg.a", "exp_avg.b", "exp_avg_sq.a", "exp_avg_sq.b", "m"});
  CHECK(download == std::vector<std::string>{"a",
                                             "b",
                                             "m",
                                             "exp_avg.a",
                                             "exp_avg_sq.a",
                                             "step.a",
                                             "exp_avg.b",
                                             "exp_avg_sq.b",
                                             "step.b"});
  std::uint64_t n = 0;
  for (auto const& t : facts.download()) n += t.numel();
  CHECK(n == facts.download_values());
}

}  // namespace
}  // namespace waggle::worker
