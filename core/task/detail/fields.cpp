// SPDX-License-Identifier: MIT
#include "core/task/detail/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.hpp"

namespace waggle::task::detail {
namespace {

constexpr When kAlways{};
constexpr When kResnet{"model", "family", "resnet"};
constexpr When kGpt{"model", "family", "gpt"};
constexpr When kImages{"data", "format", "idx-images"};
constexpr When kText{"data", "format", "text"};
constexpr When kSgd{"train", "optimizer", "sgd"};
constexpr When kAdamw{"train", "optimizer", "adamw"};
constexpr When kStep{"train", "schedule", "step"};

constexpr Allowed kAny{};
// Longest file name of the usual file systems.
constexpr double kMaxFiles = 256;
constexpr double kMaxEpochs = 1e9;

constexpr Allowed between(double low, double high) {
  return {.low = low, .high = high};
}

constexpr Allowed below(double low, double high) {
  return {.low = low, .high = high, .below_high = true};
}

constexpr Allowed above(double low, double high) {
  return {.low = low, .high = high, .above_low = true};
}

constexpr Allowed one_of(std::string_view choices, std::string_view later = {}) {
  return {.choices = choices, .later = later};
}

#define SLOT(member) [](Definition& d) -> Slot { return &d.member; }
// clang-format off
constexpr Field kFields[] = {
  {"task", "prefix", SLOT(prefix), true, between(1, 64), kAlways,
   "The task's name, the same on every peer and hivemind's run_id: [a-z0-9][a-z0-9_-]{0,63}."},
  {"task", "title", SLOT(title), true, between(1, 120), kAlways,
   "What a volunteer sees in the list."},
  {"task", "description", SLOT(description), false, between(0, 4096), kAlways,
   "What a volunteer reads before joining: what is trained, for whom, what becomes of it."},

  {"model", "family", SLOT(model.family), true, one_of("resnet gpt", "bert albert vit dalle torchscript"), kAlways,
   "Which network. The other fields of this section depend on it."},
  {"model", "depth", SLOT(model.depth), false, one_of("8 10 18 34 50"), kResnet,
   "Layers, as torchvision counts them: ResNet-18 is 18."},
  {"model", "width", SLOT(model.width), false, between(1, 1024), kResnet,
   "Channels of the first stage; torchvision's nets have 64."},
  {"model", "stem", SLOT(model.stem), false, one_of("cifar cifar-s2 imagenet"), kResnet,
   "The first layers: cifar keeps the size of small images, cifar-s2 halves it once, imagenet divides it by four."},
  {"model", "in_channels", SLOT(model.in_channels), false, between(1, 64), kResnet,
   "1 for grey images, 3 for colour."},
  {"model", "classes", SLOT(model.classes), false, between(2, 100'000), kResnet,
   "How many labels there are."},
  {"model", "layers", SLOT(model.layers), false, between(1, 256), kGpt,
   "Transformer blocks."},
  {"model", "heads", SLOT(model.heads), false, between(1, 256), kGpt,
   "Attention heads; must divide embedding."},
  {"model", "embedding", SLOT(model.embedding), false, between(8, 16'384), kGpt,
   "Size of the vector that stands for a token."},
  {"model", "context", SLOT(model.context), false, between(2, 65'536), kGpt,
   "Tokens that the model sees at once."},
  {"model", "vocabulary", SLOT(model.vocabulary), false, between(256, 1'000'000), kGpt,
   "Different tokens. Byte-level text has 256."},
  {"model", "dropout", SLOT(model.dropout), false, below(0, 1), kGpt,
   "The share of activations that training leaves out."},

  {"data", "format", SLOT(data.format), true, one_of("idx-images text", "image-folder-tar tokens-u16"), kAlways,
   "idx-images: MNIST's format, an images file and a labels file, gzip allowed. text: bytes."},
  {"data", "train", SLOT(data.train), true, between(1, kMaxFiles), kAlways,
   "File names, beside task.toml when publishing. idx-images: the images file, then the labels file."},
  {"data", "test", SLOT(data.test), false, between(0, kMaxFiles), kAlways,
   "The same for what is never trained on. Needed for idx-images; without it, text holds test_fraction out."},
  {"data", "licence", SLOT(data.licence), true, between(1, 200), kAlways,
   "Under which terms volunteers may store and pass the data on. They see it before joining."},
  {"data", "labels", SLOT(data.labels), false, between(0, 1000), kImages,
   "The classes' names, label 0 first, for people to read beside example predictions. Peers older than this field refuse a task that has it."},
  {"data", "preview", SLOT(data.preview), false, between(0, 8), kAlways,
   "How many held-out samples a volunteer sees on the task's card before joining; of text at most 2. Peers older than this field refuse a task that has it."},
  {"data", "mean", SLOT(data.mean), false, between(0, 64), kImages,
   "Subtracted from pixels scaled to [0, 1], one number a channel. Empty: nothing."},
  {"data", "std", SLOT(data.std), false, between(0, 64), kImages,
   "What the pixels are then divided by, one number a channel, each above 0. Empty: nothing."},
  {"data", "crop_padding", SLOT(data.crop_padding), false, between(0, 64), kImages,
   "Each training image is moved by up to this many pixels in both directions."},
  {"data", "flip", SLOT(data.flip), false, kAny, kImages,
   "Every second training image is mirrored left to right."},
  {"data", "test_fraction", SLOT(data.test_fraction), false, {.low = 0, .high = 0.9, .above_low = true}, kText,
   "The last part of the text, held out for testing, where no test files are named."},

  {"train", "optimizer", SLOT(train.optimizer), false, one_of("sgd adamw", "lamb"), kAlways,
   "The rule that turns a gradient into a step."},
  {"train", "learning_rate", SLOT(train.learning_rate), false, above(0, 1000), kAlways,
   "The highest one; the schedule goes on from it."},
  {"train", "momentum", SLOT(train.momentum), false, below(0, 1), kSgd,
   "The share of the last step that the next one keeps."},
  {"train", "nesterov", SLOT(train.nesterov), false, kAny, kSgd,
   "Looks one step ahead; needs momentum above 0."},
  {"train", "weight_decay", SLOT(train.weight_decay), false, between(0, 1), kAlways,
   "Pulls the weights towards 0: added to the gradient (sgd), or apart from it (adamw)."},
  {"train", "beta1", SLOT(train.beta1), false, below(0, 1), kAdamw,
   "How long the mean of the gradients remembers."},
  {"train", "beta2", SLOT(train.beta2), false, below(0, 1), kAdamw,
   "How long the mean of their squares remembers."},
  {"train", "epsilon", SLOT(train.epsilon), false, above(0, 1), kAdamw,
   "Keeps the division by a vanishing square finite."},
  {"train", "schedule", SLOT(train.schedule), false, one_of("constant cosine linear step"), kAlways,
   "How the learning rate falls after the warm-up, by global epoch. cosine and linear reach 0 at total_epochs."},
  {"train", "warmup_epochs", SLOT(train.warmup_epochs), false, between(0, kMaxEpochs), kAlways,
   "Global epochs over which the learning rate rises from 0."},
  {"train", "total_epochs", SLOT(train.total_epochs), false, between(0, kMaxEpochs), kAlways,
   "Global epochs (optimizer steps) of the whole run; 0: no end. cosine and linear need one."},
  {"train", "step_every", SLOT(train.step_every), false, between(1, kMaxEpochs), kStep,
   "Global epochs between two falls of the learning rate."},
  {"train", "step_factor", SLOT(train.step_factor), false, above(0, 1), kStep,
   "What the learning rate is multiplied with at each fall."},
  {"train", "label_smoothing", SLOT(train.label_smoothing), false, below(0, 1), kAlways,
   "The share of certainty that is spread over all labels."},
  {"train", "clip_norm", SLOT(train.clip_norm), false, between(0, 1e9), kAlways,
   "The averaged gradient is scaled down to this length if it is longer; 0: never."},
  {"train", "micro_batch", SLOT(train.micro_batch), false, between(1, 65'536), kAlways,
   "Samples that are computed at once, at most; a machine short of memory takes fewer."},
  {"train", "allow_bf16", SLOT(train.allow_bf16), false, kAny, kAlways,
   "Whether a peer may compute in bfloat16 where that is faster."},

  {"swarm", "target_batch_size", SLOT(swarm.target_batch_size), false, between(1, 1e9), kAlways,
   "Samples of the whole swarm that make one optimizer step, a global epoch."},
  {"swarm", "method", SLOT(swarm.method), false, one_of("sync", "local diloco gossip"), kAlways,
   "How the peers train together: sync averages one gradient an epoch."},
  {"swarm", "average_state_every", SLOT(swarm.average_state_every), false, between(1, 1e6), kAlways,
   "Epochs between two averagings of parameters and statistics, which keep the peers alike."},
  {"swarm", "compression", SLOT(swarm.compression), false,
   one_of("none float16 uniform8bit size_adaptive", "scaled_float16 quantile8bit blockwise8bit"), kAlways,
   "How gradients travel. size_adaptive: float16 below 4096 values, uniform8bit from there."},
  {"swarm", "state_compression", SLOT(swarm.state_compression), false,
   one_of("none float16 uniform8bit size_adaptive", "scaled_float16 quantile8bit blockwise8bit"), kAlways,
   "How parameters and statistics travel; AdamW's moments always as float32, which float16 would spoil."},
  {"swarm", "matchmaking_time", SLOT(swarm.matchmaking_time), false, between(0.1, 600), kAlways,
   "Seconds for which a peer waits for its group; hivemind's min_matchmaking_time."},
  {"swarm", "averaging_timeout", SLOT(swarm.averaging_timeout), false, between(1, 3600), kAlways,
   "Seconds after which a round is given up."},
  {"swarm", "delayed", SLOT(swarm.delayed), false, kAny, kAlways,
   "Goes on computing while a round runs and applies its average one step later."},

  {"needs", "memory_mib", SLOT(needs.memory_mib), false, between(0, 1 << 24), kAlways,
   "Free memory that a volunteer's machine should have; 0: any."},
};
// clang-format on
#undef SLOT

std::string quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Shortest text that reads back equal and that TOML takes for a float.
std::string number_text(double value) {
  auto text = cat(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <class T, class F>
std::string list_text(std::vector<T> const& values, F one) {
  std::string out = "[";
  for (auto const& value : values) out += cat(out.size() > 1 ? ", " : "", one(value));
  return out + "]";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const swap = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({swap, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Whole numbers without an exponent.
std::string plain(double value) {
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact)
    return cat(static_cast<std::int64_t>(value));
  return cat(value);
}

std::string range_text(Allowed const& allowed) {
  auto out = cat(allowed.above_low ? "above " : "from ", plain(allowed.low));
  if (std::isfinite(allowed.high))
    out += cat(allowed.below_high ? " to below " : " to ", plain(allowed.high));
  return out;
}

}  // namespace

std::span<Field const> fields() noexcept {
  return kFields;
}

Field const* find_field(std::string_view section, std::string_view name) noexcept {
  for (auto const& field : kFields)
    if (field.section == section && field.name == name) return &field;
  return nullptr;
}

bool applies(Field const& field, Definition const& definition) {
  if (field.when.section.empty()) return true;
  auto const* other = find_field(field.when.section, field.when.name);
  // The table's slots take a mutable definition; nothing is written here.
  auto const slot = other->slot(const_cast<Definition&>(definition));
  return *std::get<std::string*>(slot) == field.when.value;
}

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    auto const end = list.find(' ');
    out.push_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return out;
}

std::string expectation(Field const& field) {
  static Definition empty;
  auto const& allowed = field.allowed;
  if (!allowed.choices.empty()) {
    std::string out = "one of ";
    for (auto const word : words(allowed.choices)) out += cat(out.size() > 7 ? ", " : "", word);
    return out;
  }
  switch (field.slot(empty).index()) {
    case 0:
      return cat("a text of ", allowed.low, " to ", allowed.high, " bytes");
    case 1:
      return cat("a whole number ", range_text(allowed));
    case 2:
      return cat("a number ", range_text(allowed));
    case 3:
      return "true or false";
    case 4:
      return cat("a list of ", allowed.low, " to ", allowed.high, " texts");
    default:
      return cat("a list of ", allowed.low, " to ", allowed.high, " numbers");
  }
}

std::string value_text(Field const& field, Definition const& definition) {
  struct Writer {
    std::string operator()(std::string const* v) const { return quoted(*v); }

    std::string operator()(std::int64_t const* v) const { return cat(*v); }

    std::string operator()(double const* v) const { return number_text(*v); }

    std::string operator()(bool const* v) const { return cat(*v); }

    std::string operator()(std::vector<std::string> const* v) const {
      return list_text(*v, quoted);
    }

    std::string operator()(std::vector<double> const* v) const {
      return list_text(*v, number_text);
    }
  };

  return std::visit(Writer{}, field.slot(const_cast<Definition&>(definition)));
}

std::string_view nearest(std::string_view found, std::span<std::string_view const> candidates) {
  constexpr std::size_t kLongestGuess = 64;  // the search is quadratic and the text a stranger's
  if (found.size() > kLongestGuess) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, found.size() / 3) + 1;
  for (auto const candidate : candidates) {
    auto const d = edit_distance(found, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace waggle::task::detail
