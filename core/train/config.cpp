// SPDX-License-Identifier: MIT
#include "core/train/config.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace waggle::train {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxConfig = 64 * 1024;
constexpr std::size_t kMaxChannels = 64;

/// Reads the fields of one section, remembers the first trouble and which names it knows.
class Section {
 public:
  Section(json const& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object_.is_object()) trouble_ = cat(name_, ": expected an object");
  }

  void integer(char const* key, std::int64_t& out, std::int64_t low, std::int64_t high) {
    auto const* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number_integer())
      return complain(key, cat("expected an integer from ", low, " to ", high));
    auto const huge = value->is_number_unsigned() &&
                      value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (huge || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high)
      return complain(key, cat("is ", value->dump(), ", expected ", low, " to ", high));
    out = value->get<std::int64_t>();
  }

  void real(char const* key, double& out, double low, double high) {
    auto const* value = find(key);
    if (value == nullptr) return;
    if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high))
      return complain(key, cat("expected a number from ", low, " to ", high));
    out = value->get<double>();
  }

  void boolean(char const* key, bool& out) {
    auto const* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return complain(key, "expected true or false");
    out = value->get<bool>();
  }

  void choice(char const* key, std::string& out, std::initializer_list<char const*> names) {
    auto const* value = find(key);
    if (value == nullptr) return;
    std::string list;
    for (auto const* name : names) {
      if (value->is_string() && value->get_ref<std::string const&>() == name)
        out = name, list = "!";
      if (list != "!") list += cat(list.empty() ? "" : ", ", name);
    }
    if (list != "!") complain(key, cat("expected one of ", list));
  }

  void reals(char const* key, std::vector<double>& out, double low, double high) {
    auto const* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > kMaxChannels)
      return complain(key, cat("expected a list of at most ", kMaxChannels, " numbers"));
    out.clear();
    for (auto const& item : *value) {
      if (!item.is_number() || !(item.get<double>() >= low && item.get<double>() <= high))
        return complain(key, cat("expected numbers from ", low, " to ", high));
      out.push_back(item.get<double>());
    }
  }

  /// A field of the task that the trainer has no use for.
  void ignore(char const* key) { known_[key] = true; }

  void complain(char const* key, std::string const& what) {
    if (trouble_.empty()) trouble_ = cat(name_, ".", key, ": ", what);
  }

  [[nodiscard]] Status finish() {
    if (trouble_.empty())
      for (auto const& [key, value] : object_.items())
        if (!known_.contains(key)) complain(key.substr(0, 64).c_str(), "unknown field");
    if (!trouble_.empty()) return Error{Errc::invalid, std::move(trouble_)};
    return ok();
  }

 private:
  [[nodiscard]] json const* find(char const* key) {
    known_[key] = true;
    if (!object_.is_object()) return nullptr;
    auto const it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }

  json const& object_;
  std::string name_;
  std::string trouble_;
  std::map<std::string, bool, std::less<>> known_;
};

Status read_model(json const& object, ModelConfig& m) {
  Section s(object, "model");
  s.choice("family", m.family, {"resnet", "gpt"});
  s.integer("depth", m.depth, 8, 50);
  s.integer("width", m.width, 1, 1024);
  s.choice("stem", m.stem, {"cifar", "cifar-s2", "imagenet"});
  s.integer("in_channels", m.in_channels, 1, kMaxChannels);
  s.integer("classes", m.classes, 2, 100'000);
  s.integer("layers", m.layers, 1, 128);
  s.integer("heads", m.heads, 1, 128);
  s.integer("embedding", m.embedding, 1, 16'384);
  s.integer("context", m.context, 2, 8'192);
  s.integer("vocabulary", m.vocabulary, 256, 65'536);
  s.real("dropout", m.dropout, 0, 0.95);
  auto const depths = {8, 10, 18, 34, 50};
  if (std::find(depths.begin(), depths.end(), m.depth) == depths.end())
    s.complain("depth", cat("is ", m.depth, ", expected 8, 10, 18, 34 or 50"));
  if (m.embedding % m.heads != 0)
    s.complain("embedding", cat("is ", m.embedding, ", expected a multiple of heads, ", m.heads));
  return s.finish();
}

Status read_data(json const& object, ModelConfig const& m, DataConfig& d) {
  Section s(object, "data");
  s.choice("format", d.format, {"idx-images", "text"});
  for (auto const* key : {"train", "test", "licence"}) s.ignore(key);
  s.reals("mean", d.mean, -1e3, 1e3);
  s.reals("std", d.std, 1e-6, 1e3);
  s.integer("crop_padding", d.crop_padding, 0, 64);
  s.boolean("flip", d.flip);
  s.real("test_fraction", d.test_fraction, 0, 0.9);
  for (auto const* list : {&d.mean, &d.std})
    if (!list->empty() && std::ssize(*list) != m.in_channels && m.family == "resnet")
      s.complain(list == &d.mean ? "mean" : "std",
                 cat("has ", list->size(), " numbers for ", m.in_channels, " channels"));
  if ((m.family == "gpt") != (d.format == "text"))
    s.complain("format", cat(d.format, " does not fit model.family ", m.family));
  return s.finish();
}

Status read_train(json const& object, TrainConfig& t) {
  constexpr std::int64_t kMaxEpochs = 1'000'000'000;
  Section s(object, "train");
  s.choice("optimizer", t.optimizer, {"sgd", "adamw"});
  s.real("learning_rate", t.learning_rate, 0, 1e3);
  s.real("momentum", t.momentum, 0, 1);
  s.boolean("nesterov", t.nesterov);
  s.real("weight_decay", t.weight_decay, 0, 1e3);
  s.real("beta1", t.beta1, 0, 0.999999999);
  s.real("beta2", t.beta2, 0, 0.999999999);
  s.real("epsilon", t.epsilon, 0, 1);
  s.choice("schedule", t.schedule, {"constant", "cosine", "linear", "step"});
  s.integer("warmup_epochs", t.warmup_epochs, 0, kMaxEpochs);
  s.integer("total_epochs", t.total_epochs, 0, kMaxEpochs);
  s.integer("step_every", t.step_every, 0, kMaxEpochs);
  s.real("step_factor", t.step_factor, 0, 1);
  s.real("label_smoothing", t.label_smoothing, 0, 0.999);
  s.real("clip_norm", t.clip_norm, 0, 1e9);
  s.integer("micro_batch", t.micro_batch, 1, 65'536);
  s.boolean("allow_bf16", t.allow_bf16);
  if (t.nesterov && t.momentum == 0) s.complain("nesterov", "needs momentum");
  if ((t.schedule == "cosine" || t.schedule == "linear") && t.total_epochs <= t.warmup_epochs)
    s.complain("total_epochs", cat(t.schedule, " needs an end after warmup_epochs"));
  if (t.schedule == "step" && t.step_every == 0) s.complain("step_every", "step needs it");
  return s.finish();
}

}  // namespace

Result<Config> parse_config(std::string_view text) {
  if (text.size() > kMaxConfig)
    return Error{Errc::too_large,
                 cat("trainer configuration of ", text.size(), " bytes, limit ", kMaxConfig)};
  auto const parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object())
    return Error{Errc::malformed, "trainer configuration is no JSON object"};
  Config config;
  static json const empty = json::object();
  auto const section = [&](char const* name) -> json const& {
    auto const it = parsed.find(name);
    return it == parsed.end() ? empty : *it;
  };
  for (auto const& [key, value] : parsed.items())
    if (key != "model" && key != "data" && key != "train")
      return Error{Errc::invalid, cat("unknown section ", key.substr(0, 64))};
  // What the format is unless said follows the family.
  if (auto const it = section("model").find("family");
      section("model").is_object() && it != section("model").end() && *it == "gpt")
    config.data.format = "text";
  WAGGLE_TRY_STATUS(read_model(section("model"), config.model));
  WAGGLE_TRY_STATUS(read_data(section("data"), config.model, config.data));
  WAGGLE_TRY_STATUS(read_train(section("train"), config.train));
  return config;
}

}  // namespace waggle::train
