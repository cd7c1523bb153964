// SPDX-License-Identifier: MIT
#include "core/train/model.hpp"

#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "core/crypto/hash.hpp"
#include "core/train/random.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::train {
namespace {

using Values = std::vector<float>;

Config resnet(std::int64_t depth,
              std::int64_t width,
              char const* stem,
              std::int64_t channels,
              std::int64_t classes) {
  Config c;
  c.model.depth = depth;
  c.model.width = width;
  c.model.stem = stem;
  c.model.in_channels = channels;
  c.model.classes = classes;
  return c;
}

Config gpt(std::int64_t layers, std::int64_t heads, std::int64_t width, std::int64_t context) {
  Config c;
  c.model.family = "gpt";
  c.model.layers = layers;
  c.model.heads = heads;
  c.model.embedding = width;
  c.model.context = context;
  c.data.format = "text";
  c.train.weight_decay = 0.1;
  return c;
}

std::unique_ptr<Model> make(Config const& config, std::int64_t side = 28) {
  auto model = Model::make(config, side, side);
  REQUIRE(model);
  return std::move(*model);
}

/// hivemind's schema hash (spec/hivemind-averaging.md section 2.2), written down a second time.
std::string schema_hash(std::vector<TensorSpec> const& tensors) {
  wire::Msgpack::Array list;
  for (auto const& t : tensors) {
    std::string size = "torch.Size([";
    for (std::size_t i = 0; i < t.shape.size(); ++i)
      size += (i > 0 ? ", " : "") + std::to_string(t.shape[i]);
    list.push_back(wire::Msgpack::Map{{"size", size + "])"},
                                      {"dtype", "torch.float32"},
                                      {"layout", "torch.strided"},
                                      {"device", "cpu"},
                                      {"requires_grad", "False"},
                                      {"pin_memory", "False"},
                                      {"compression", "0"}});
  }
  return to_hex(crypto::sha1(wire::Msgpack(std::move(list)).encode()));
}

std::vector<TensorSpec> concat(std::vector<TensorSpec> a, std::vector<TensorSpec> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A model with its own buffers and made-up samples.
struct Bench {
  explicit Bench(Config const& c, std::int64_t side = 8)
      : config(c),
        model(make(c, side)),
        parameters(model->parameter_values()),
        gradients(model->parameter_values()),
        extras(model->extra_values()),
        size(side) {
    model->initialise(1, parameters, extras);
    REQUIRE(model->bind({parameters, gradients, extras}));
  }

  Input input(std::int64_t first, std::int64_t count) {
    Input in;
    in.count = count;
    pixels.clear();
    tokens.clear();
    for (auto i = first; i < first + count; ++i) {
      Random random(77, 1, static_cast<std::uint64_t>(i));
      if (config.model.family == "gpt") {
        for (std::int64_t k = 0; k <= config.model.context; ++k)
          tokens.push_back(static_cast<std::int64_t>(
              random.below(static_cast<std::uint64_t>(config.model.vocabulary))));
        continue;
      }
      tokens.push_back(static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(config.model.classes))));
      for (std::int64_t k = 0; k < config.model.in_channels * size * size; ++k)
        pixels.push_back(static_cast<float>(random.normal()));
    }
    in.channels = config.model.in_channels;
    in.height = in.width = size;
    in.pixels = pixels;
    in.tokens = tokens;
    return in;
  }

  LossSum accumulate(std::int64_t first, std::int64_t count) {
    auto loss = model->accumulate(input(first, count));
    REQUIRE(loss);
    return *loss;
  }

  Config config;
  std::unique_ptr<Model> model;
  Values parameters, gradients, extras;
  std::int64_t size;
  std::vector<float> pixels;
  std::vector<std::int64_t> tokens;
};

TEST_CASE("ResNet, has torchvision's parameters: count and names") {
  auto const small = make(resnet(8, 32, "cifar-s2", 1, 10));
  CHECK(small->parameter_values() == 308'074);
  CHECK(small->extra_values() == 1'344);
  // torchvision 0.14's resnet18, 34 and 50 for 1000 classes.
  CHECK(make(resnet(18, 64, "imagenet", 3, 1000))->parameter_values() == 11'689'512);
  CHECK(make(resnet(34, 64, "imagenet", 3, 1000))->parameter_values() == 21'797'672);
  CHECK(make(resnet(50, 64, "imagenet", 3, 1000))->parameter_values() == 25'557'032);
  CHECK(make(resnet(18, 64, "cifar", 1, 10))->parameter_values() == 11'172'810);
  CHECK(make(resnet(18, 64, "cifar", 1, 10))->extra_values() == 9'600);
  auto const ten = make(resnet(10, 16, "cifar", 1, 10));
  CHECK(ten->parameters().back().name == "fc.bias");
  auto const fifty = make(resnet(50, 64, "imagenet", 3, 1000));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 15; ++i) names.push_back(fifty->parameters()[i].name);
  CHECK(names == std::vector<std::string>{"conv1.weight",
                                          "bn1.weight",
                                          "bn1.bias",
                                          "layer1.0.conv1.weight",
                                          "layer1.0.bn1.weight",
                                          "layer1.0.bn1.bias",
                                          "layer1.0.conv2.weight",
                                          "layer1.0.bn2.weight",
                                          "layer1.0.bn2.bias",
                                          "layer1.0.conv3.weight",
                                          "layer1.0.bn3.weight",
                                          "layer1.0.bn3.bias",
                                          "layer1.0.downsample.0.weight",
                                          "layer1.0.downsample.1.weight",
                                          "layer1.0.downsample.1.bias"});
  CHECK(fifty->extras()[0].name == "bn1.running_mean");
  CHECK(fifty->extras()[1].name == "bn1.running_var");
  CHECK(fifty->groups().size() == 1);
  CHECK(fifty->tensors_per_group() == std::vector<std::size_t>{fifty->parameters().size()});
}

TEST_CASE("ResNet, the golden schema hashes: gradients, and state with momentum") {
  auto const model = make(resnet(8, 32, "cifar-s2", 1, 10));
  auto const& p = model->parameters();
  CHECK(schema_hash(p) == "f0523c37a7952ef7c24f17ca6ebfd8d7d29ccb8d");
  CHECK(schema_hash(concat(concat(p, p), model->extras())) ==
        "283c48dcb19e1ffe658d6cb43e172d92dd003da1");
}

TEST_CASE("gpt, has GPT-2's parameters, those that decay first") {
  auto const model = make(gpt(4, 4, 256, 128));
  CHECK(model->parameter_values() == 3'257'856);
  CHECK(model->extra_values() == 0);
  auto const& p = model->parameters();
  CHECK(schema_hash(p) == "2f99aa594c998b9214c537b00a127e3f41d552c9");
  CHECK(schema_hash(concat(concat(p, p), p)) == "484c6b07c5ef418fefad71e022ec27edb92cc19f");
  CHECK(p[0].name == "transformer.wte.weight");
  CHECK(p[2].name == "transformer.h.0.attn.c_attn.weight");
  CHECK(p[2].shape == std::vector<std::int64_t>{256, 768});
  auto const groups = model->groups();
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].weight_decay == 0.1);
  CHECK(groups[1].weight_decay == 0);
  CHECK(groups[1].end == model->parameter_values());
  auto const counts = model->tensors_per_group();
  CHECK(counts == std::vector<std::size_t>{18, 34});
  CHECK(p[counts[0] - 1].name == "transformer.h.3.mlp.c_proj.weight");
  CHECK(p[counts[0]].name == "transformer.h.0.ln_1.weight");
  CHECK(p.back().name == "transformer.ln_f.bias");
}

TEST_CASE("Model, initial values depend on the seed alone and have the right size") {
  auto const model = make(resnet(8, 32, "cifar-s2", 1, 10));
  Values a(model->parameter_values()), b = a, c = a, e(model->extra_values());
  model->initialise(5, a, e);
  model->initialise(5, b, e);
  model->initialise(6, c, e);
  CHECK(a == b);
  CHECK(a != c);
  // conv1: normal with deviation sqrt(2 / (32 · 9)).
  double squares = 0;
  for (std::size_t i = 0; i < 288; ++i) squares += static_cast<double>(a[i]) * a[i];
  CHECK(std::sqrt(squares / 288) == doctest::Approx(std::sqrt(2.0 / 288)).epsilon(0.15));
  CHECK(a[288] == 1.0f);
  CHECK(a[288 + 32] == 0.0f);
  CHECK(e[0] == 0.0f);
  CHECK(e[32] == 1.0f);
}

/// Compares the gradient along itself with a difference of losses.
void check_gradient(Bench& bench, std::int64_t count, double step) {
  auto const loss = bench.accumulate(0, count);
  CHECK(loss.finite);
  auto const length = norm(bench.gradients);
  auto const start = bench.parameters;
  auto const gradient = bench.gradients;
  double ends[2];
  for (int side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < start.size(); ++i)
      bench.parameters[i] =
          start[i] + static_cast<float>((side == 0 ? -step : step) * gradient[i] / length);
    std::fill(bench.gradients.begin(), bench.gradients.end(), 0.0f);
    ends[side] = bench.accumulate(0, count).loss_sum;
  }
  CHECK((ends[1] - ends[0]) / (2 * step) == doctest::Approx(length).epsilon(0.02));
}

TEST_CASE("Model, its gradient is the slope of its loss, as a sum over the samples") {
  Bench image(resnet(8, 4, "cifar", 2, 5));
  check_gradient(image, 6, 2e-3);
  Bench text(gpt(2, 2, 16, 12));
  check_gradient(text, 3, 1e-2);
  Bench bottleneck(resnet(50, 2, "imagenet", 1, 3), 64);
  auto const loss = bottleneck.accumulate(0, 4);
  CHECK(loss.finite);
  CHECK(norm(bottleneck.gradients) > 0);
}

TEST_CASE("Model, gradients add up over unequal micro-batches") {
  Bench whole(gpt(1, 2, 8, 6)), parts(gpt(1, 2, 8, 6));
  auto const all = whole.accumulate(0, 4);
  auto const some = parts.accumulate(0, 3);
  auto const rest = parts.accumulate(3, 1);
  CHECK(all.samples == 4);
  CHECK(all.loss_sum == doctest::Approx(some.loss_sum + rest.loss_sum));
  for (std::size_t i = 0; i < whole.gradients.size(); ++i)
    CHECK(whole.gradients[i] == doctest::Approx(parts.gradients[i]).epsilon(1e-3).scale(1e-3));
}

TEST_CASE(
    "Model, training moves the running statistics in the caller's buffer, evaluating does not") {
  Bench bench(resnet(8, 4, "cifar", 1, 3));
  auto const before = bench.extras;
  auto const evaluated = bench.model->evaluate(bench.input(0, 4));
  REQUIRE(evaluated);
  CHECK(bench.extras == before);
  bench.accumulate(0, 4);
  CHECK(bench.extras != before);
  CHECK(all_finite(bench.extras));
}

TEST_CASE("Model, says that a loss is not finite") {
  Bench bench(resnet(8, 4, "cifar", 1, 3));
  bench.parameters[0] = std::numeric_limits<float>::infinity();
  CHECK(!bench.accumulate(0, 4).finite);
}

TEST_CASE("Model, probabilities sum to one") {
  Bench image(resnet(8, 4, "cifar", 1, 5));
  auto const p = image.model->probabilities(image.input(0, 3));
  REQUIRE(p);
  REQUIRE(p->size() == 15);
  CHECK(std::accumulate(p->begin(), p->begin() + 5, 0.0) == doctest::Approx(1));
  Bench text(gpt(1, 2, 8, 6));
  auto in = text.input(0, 1);
  in.tokens = in.tokens.first(4);
  auto const q = text.model->probabilities(in);
  REQUIRE(q);
  CHECK(q->size() == 256);
  CHECK(std::accumulate(q->begin(), q->end(), 0.0) == doctest::Approx(1));
}

TEST_CASE("gpt, sees only what came before") {
  // The loss of a window in one pass equals that of its prefixes, each alone: what follows a place
  // has no say there.
  Bench bench(gpt(2, 2, 16, 8));
  auto const in = bench.input(0, 1);
  double alone = 0;
  for (std::size_t length = 1; length <= 8; ++length) {
    Input prefix = in;
    prefix.tokens = in.tokens.first(length);
    auto const p = bench.model->probabilities(prefix);
    REQUIRE(p);
    alone -= std::log(static_cast<double>((*p)[static_cast<std::size_t>(in.tokens[length])])) / 8;
  }
  auto const together = bench.model->evaluate(in);
  REQUIRE(together);
  CHECK(together->loss_sum == doctest::Approx(alone).epsilon(1e-5));
}

TEST_CASE("Model, chooses bfloat16 only by measuring and stays finite either way") {
  Bench bench(resnet(8, 8, "cifar", 1, 3), 16);
  auto const kept = bench.parameters;
  REQUIRE(bench.model->choose_precision(bench.input(0, 8)));
  CHECK(bench.parameters == kept);
  CHECK(norm(bench.gradients) == 0);
  CHECK(bench.accumulate(0, 8).finite);
  CHECK(norm(bench.gradients) > 0);
  MESSAGE("computes in " << bench.model->device());
}

}  // namespace
}  // namespace waggle::train
