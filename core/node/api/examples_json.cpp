// SPDX-License-Identifier: MIT
#include "core/node/api/examples_json.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/bytes.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace waggle::node {
namespace {

using Out = nlohmann::ordered_json;
using In = nlohmann::json;

constexpr std::size_t kMaxJson = 2u << 20;  // eight previews and twelve predictions fit
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxLabels = 1000;
constexpr std::uint32_t kMaxChannels = 64;

Out json_of(Example const& e) {
  Out guesses = Out::array();
  for (auto const& g : e.guesses) guesses.push_back({{"label", g.label}, {"share", g.share}});
  return {{"channels", e.channels},
          {"height", e.height},
          {"width", e.width},
          {"pixels", to_hex(std::as_bytes(std::span(e.pixels)))},
          {"label", e.label},
          {"guesses", std::move(guesses)},
          {"prompt", e.prompt},
          {"text", e.text}};
}

void read(In const& object, char const* name, std::string& into) {
  auto const at = object.find(name);
  if (at == object.end() || !at->is_string()) return;
  into = utf8_prefix(at->get_ref<std::string const&>(), kMaxText);
}

void read(In const& object, char const* name, double& into) {
  auto const at = object.find(name);
  if (at == object.end() || !at->is_number()) return;
  auto const value = at->get<double>();
  if (std::isfinite(value)) into = value;
}

void read(In const& object, char const* name, std::integral auto& into) {
  auto const at = object.find(name);
  if (at != object.end() && at->is_number_integer()) at->get_to(into);
}

In const* list(In const& object, char const* name) {
  auto const at = object.find(name);
  return at != object.end() && at->is_array() ? &*at : nullptr;
}

bool read_pixels(In const& object, Example& e) {
  read(object, "channels", e.channels);
  read(object, "height", e.height);
  read(object, "width", e.width);
  auto const at = object.find("pixels");
  if (at == object.end() || !at->is_string()) return false;
  auto const& hex = at->get_ref<std::string const&>();
  if (e.channels > kMaxChannels || e.height > Examples::kMostSide || e.width > Examples::kMostSide)
    return false;
  if (hex.size() != std::size_t{2} * e.channels * e.height * e.width) return false;
  auto const bytes = from_hex(hex);
  if (!bytes) return false;
  for (auto const byte : *bytes) e.pixels.push_back(std::to_integer<std::uint8_t>(byte));
  return true;
}

std::optional<Example> example_of(In const& object) {
  if (!object.is_object()) return std::nullopt;
  Example e;
  if (!read_pixels(object, e)) return std::nullopt;
  read(object, "label", e.label);
  read(object, "prompt", e.prompt);
  read(object, "text", e.text);
  if (auto const* const guesses = list(object, "guesses"))
    for (auto const& one : *guesses) {
      if (!one.is_object() || e.guesses.size() >= Examples::kMostGuesses) break;
      Guess guess;
      read(one, "label", guess.label);
      read(one, "share", guess.share);
      guess.share = std::clamp(guess.share, 0.0, 1.0);
      e.guesses.push_back(guess);
    }
  return e;
}

void read_labels(In const& object, std::vector<std::string>& into) {
  if (auto const* const labels = list(object, "labels"))
    for (auto const& label : *labels)
      if (label.is_string() && into.size() < kMaxLabels)
        into.emplace_back(utf8_prefix(label.get_ref<std::string const&>(), kMaxText));
}

void read_items(In const& object, std::size_t most, std::vector<Example>& into) {
  if (auto const* const items = list(object, "items"))
    for (auto const& item : *items)
      if (auto example = example_of(item); example && into.size() < most)
        into.push_back(*std::move(example));
}

std::optional<Preview> preview_of(In const& object) {
  if (!object.is_object()) return std::nullopt;
  Preview preview;
  read(object, "operator", preview.operator_id);
  read(object, "prefix", preview.prefix);
  read_labels(object, preview.labels);
  read_items(object, Preview::kMost, preview.items);
  for (auto& item : preview.items) {
    item.guesses.clear();
    item.prompt.clear();
    item.text.resize(utf8_prefix(item.text, Preview::kMostText).size());
  }
  return preview;
}

Out json_of(Preview const& preview) {
  Out items = Out::array();
  for (auto const& item : preview.items) items.push_back(json_of(item));
  return {{"operator", preview.operator_id},
          {"prefix", preview.prefix},
          {"labels", preview.labels},
          {"items", std::move(items)}};
}

std::string text_of(Out const& json) {
  return json.dump(-1, ' ', false, Out::error_handler_t::replace);
}

}  // namespace

std::string to_json(Preview const& preview) {
  return text_of(json_of(preview));
}

Result<Preview> preview_from_json(std::string_view text) {
  if (text.size() > kMaxPreviewBytes)
    return Error{Errc::too_large,
                 cat("a preview of ", text.size(), " bytes; at most ", kMaxPreviewBytes)};
  auto preview = preview_of(In::parse(text, nullptr, false));
  if (!preview) return Error{Errc::malformed, "the preview is no JSON object"};
  return *std::move(preview);
}

std::string to_json(Examples const& examples) {
  Out items = Out::array();
  for (auto const& item : examples.items) items.push_back(json_of(item));
  Out json = {{"schema", Examples::kSchema},
              {"operator", examples.operator_id},
              {"prefix", examples.prefix},
              {"epoch", examples.epoch},
              {"time", examples.time},
              {"labels", examples.labels},
              {"items", std::move(items)}};
  Out previews = Out::array();
  for (auto const& preview : examples.previews) previews.push_back(json_of(preview));
  if (!previews.empty()) json["previews"] = std::move(previews);
  return text_of(json);
}

Result<Examples> examples_from_json(std::string_view text) {
  if (text.size() > kMaxJson)
    return Error{Errc::malformed,
                 cat("examples of ", text.size(), " bytes; at most ", kMaxJson, " are read")};
  auto const json = In::parse(text, nullptr, false);
  int schema = 0;
  if (json.is_object()) read(json, "schema", schema);
  if (schema != Examples::kSchema)
    return Error{Errc::malformed, cat("no examples of schema ", Examples::kSchema)};
  Examples out;
  read(json, "operator", out.operator_id);
  read(json, "prefix", out.prefix);
  read(json, "epoch", out.epoch);
  read(json, "time", out.time);
  read_labels(json, out.labels);
  read_items(json, Examples::kMost, out.items);
  if (auto const* const previews = list(json, "previews"))
    for (auto const& one : *previews)
      if (auto preview = preview_of(one); preview && out.previews.size() < Examples::kMostPreviews)
        out.previews.push_back(*std::move(preview));
  return out;
}

}  // namespace waggle::node
