// SPDX-License-Identifier: MIT
#include "core/train/trainer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.hpp"
#include "core/train/data/gunzip.hpp"
#include "core/train/detail/buffers.hpp"
#include "core/train/random.hpp"
#include "core/train/schedule.hpp"

namespace waggle::train {
namespace {

constexpr std::uint64_t kMaxDataFile = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxText = std::uint64_t{2} << 30;
constexpr std::uint32_t kEvaluationBatch = 128;
constexpr std::uint32_t kGenerated = 64;
constexpr double kTemperature = 0.8;

Result<Bytes> read_whole(int file, std::uint64_t limit) {
  struct stat info {};

  if (::fstat(file, &info) != 0) return Error{Errc::io, cat("data file: ", std::strerror(errno))};
  auto const size = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (size > limit)
    return Error{Errc::too_large, cat("data file of ", size, " bytes, limit ", limit)};
  Bytes bytes(size);
  std::size_t at = 0;
  while (at < bytes.size()) {
    auto const n = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{Errc::io, cat("data file: ", std::strerror(errno))};
    if (n == 0) break;
    at += static_cast<std::size_t>(n);
  }
  bytes.resize(at);
  return bytes;
}

Result<ImageSet> read_sets(std::vector<int> const& files, std::int64_t classes) {
  if (files.size() % 2 != 0)
    return Error{Errc::invalid,
                 cat(files.size(), " data files, expected pairs of images and labels")};
  ImageSet all;
  for (std::size_t i = 0; i < files.size(); i += 2) {
    WAGGLE_TRY(auto const images, read_whole(files[i], kMaxDataFile));
    WAGGLE_TRY(auto const labels, read_whole(files[i + 1], kMaxDataFile));
    WAGGLE_TRY(auto set, read_idx_images(images, labels, static_cast<std::uint32_t>(classes)));
    WAGGLE_TRY_STATUS(join(all, std::move(set)));
  }
  return all;
}

Result<Bytes> read_texts(std::vector<int> const& files) {
  Bytes all;
  for (int const file : files) {
    WAGGLE_TRY(auto const raw, read_whole(file, kMaxText));
    WAGGLE_TRY(auto const text, gunzip(raw, kMaxText - all.size()));
    append(all, text);
  }
  return all;
}

}  // namespace

Trainer::Trainer(TrainerSetup setup, std::unique_ptr<Model> model)
    : config_(std::move(setup.config)),
      seed_(setup.seed),
      init_seed_(setup.init_seed),
      model_(std::move(model)),
      optimizer_(config_.train, model_->groups()) {
}

Result<std::unique_ptr<Trainer>> Trainer::make(TrainerSetup setup) {
  // The data come first: a net's arithmetic depends on the size of its images.
  auto const& model_config = setup.config.model;
  bool const text = model_config.family == "gpt";
  auto side = model_config.stem == "imagenet" ? std::int64_t{224} : std::int64_t{32};
  std::int64_t height = side, width = side;
  ImageSet train, test;
  if (!text) {
    WAGGLE_TRY(train, read_sets(setup.train_files, model_config.classes));
    WAGGLE_TRY(test, read_sets(setup.test_files, model_config.classes));
    for (auto const* set : {&train, &test})
      if (set->count != 0 && set->channels != model_config.in_channels)
        return Error{Errc::invalid,
                     cat("images with ",
                         set->channels,
                         " channels, the model takes ",
                         model_config.in_channels)};
    if (train.count != 0 && test.count != 0 && train.image_size() != test.image_size())
      return Error{Errc::invalid, "training and test images of different sizes"};
    if (train.count != 0) height = train.height, width = train.width;
  }
  WAGGLE_TRY(auto model, Model::make(setup.config, height, width, setup.gpu));
  std::unique_ptr<Trainer> trainer(new Trainer(setup, std::move(model)));
  if (train.count != 0) trainer->images_.emplace(std::move(train), setup.config.data, setup.seed);
  if (test.count != 0)
    trainer->test_images_.emplace(std::move(test), setup.config.data, setup.seed);
  if (text && !setup.train_files.empty()) WAGGLE_TRY_STATUS(trainer->load_text(setup));
  if (setup.config.train.allow_bf16 && trainer->train_samples() > 0) {
    auto const n = static_cast<std::uint32_t>(setup.config.train.micro_batch);
    WAGGLE_TRY_STATUS(trainer->model_->choose_precision(trainer->draw(0, n)));
  }
  return trainer;
}

Status Trainer::load_text(TrainerSetup const& setup) {
  WAGGLE_TRY(auto train, read_texts(setup.train_files));
  WAGGLE_TRY(auto test, read_texts(setup.test_files));
  WAGGLE_TRY(
      auto stream,
      TextStream::make(
          std::move(train), std::move(test), config_.data, config_.model.context, setup.seed));
  text_ = std::move(stream);
  return ok();
}

std::uint64_t Trainer::train_samples() const noexcept {
  if (images_) return images_->set().count;
  return text_ ? text_->train_samples() : 0;
}

std::uint32_t Trainer::test_samples() const noexcept {
  if (test_images_) return test_images_->set().count;
  return text_ ? text_->test_samples() : 0;
}

Status Trainer::bind(TrainerBuffers buffers, bool initialise) {
  auto const gradients = model_->parameter_values();
  auto const statistics = optimizer_.statistics().size() * gradients;
  WAGGLE_TRY_STATUS(detail::fits("gradients", buffers.model.gradients, gradients));
  WAGGLE_TRY_STATUS(detail::fits("statistics", buffers.statistics, statistics));
  WAGGLE_TRY_STATUS(model_->bind(buffers.model));
  buffers_ = buffers;
  bound_ = true;
  if (!initialise) return ok();
  model_->initialise(init_seed_, buffers.model.parameters, buffers.model.extras);
  std::fill(buffers.model.gradients.begin(), buffers.model.gradients.end(), 0.0f);
  std::fill(buffers.statistics.begin(), buffers.statistics.end(), 0.0f);
  model_->written();
  return ok();
}

// Rather than train what a stranger sent.
Status Trainer::bind_again() {
  if (bound_) return ok();
  auto const again = model_->bind(buffers_.model);
  bound_ = static_cast<bool>(again);
  if (bound_) return ok();
  return Error{again.error().code,
               cat("the model does not go back to its own state: ", again.error().detail)};
}

Input Trainer::input_of(ImageSet const& set, std::uint32_t samples) const {
  return {samples, set.channels, set.height, set.width, pixels_, tokens_};
}

Input Trainer::draw(std::uint64_t position, std::uint32_t samples) {
  if (text_) {
    tokens_.resize(samples * static_cast<std::size_t>(config_.model.context + 1));
    text_->draw(position, tokens_);
    return {samples, 0, 0, 0, {}, tokens_};
  }
  pixels_.resize(samples * images_->set().image_size());
  tokens_.resize(samples);
  images_->draw(position, pixels_, tokens_);
  return input_of(images_->set(), samples);
}

Input Trainer::take(std::uint32_t first, std::uint32_t samples) {
  if (text_) {
    tokens_.resize(samples * static_cast<std::size_t>(config_.model.context + 1));
    text_->take(first, tokens_);
    return {samples, 0, 0, 0, {}, tokens_};
  }
  pixels_.resize(samples * test_images_->set().image_size());
  tokens_.resize(samples);
  test_images_->take(first, pixels_, tokens_);
  return input_of(test_images_->set(), samples);
}

Result<LossSum> Trainer::accumulate(std::uint64_t position, std::uint32_t samples) {
  if (train_samples() == 0) return Error{Errc::invalid, "no training data"};
  if (samples == 0 || samples > 65'536)
    return Error{Errc::invalid, cat("micro-batch of ", samples)};
  WAGGLE_TRY_STATUS(bind_again());
  return model_->accumulate(draw(position, samples));
}

TrainerStep Trainer::apply(std::int64_t epoch, std::uint64_t steps) {
  TrainerStep out;
  out.learning_rate = learning_rate(config_.train, epoch);
  out.gradient_norm = norm(buffers_.model.gradients);
  optimizer_.step(buffers_.model.parameters,
                  buffers_.model.gradients,
                  buffers_.statistics,
                  out.learning_rate,
                  clip_scale(out.gradient_norm, config_.train.clip_norm),
                  steps);
  model_->written();
  return out;
}

Result<TrainerEvaluation> Trainer::evaluate(std::uint32_t most) {
  WAGGLE_TRY_STATUS(bind_again());
  return evaluate_bound(most);
}

Result<TrainerEvaluation> Trainer::evaluate_bound(std::uint32_t most) {
  auto const total = most == 0 ? test_samples() : std::min(most, test_samples());
  if (total == 0) return Error{Errc::invalid, "no test data"};
  LossSum sum;
  auto batch = kEvaluationBatch;
  for (std::uint32_t first = 0; first < total;) {
    auto const n = std::min(batch, total - first);
    auto const part = model_->evaluate(take(first, n));
    if (!part && part.error().code == Errc::too_large && n > 1) {
      batch = n / 2;
      continue;
    }
    if (!part) return part.error();
    sum.samples += part->samples;
    sum.loss_sum += part->loss_sum;
    sum.correct += part->correct;
    sum.gpu_seconds += part->gpu_seconds;
    first += n;
  }
  auto const n = static_cast<double>(sum.samples);
  return TrainerEvaluation{sum.samples, sum.loss_sum / n, sum.correct / n, sum.gpu_seconds};
}

Result<TrainerEvaluation> Trainer::probe(std::span<float> parameters,
                                         std::span<float> extras,
                                         std::uint32_t most) {
  WAGGLE_TRY_STATUS(model_->bind({parameters, {}, extras}));
  bound_ = false;
  auto result = evaluate_bound(most);
  // Whatever came of it; on the processor, and on a GPU that still works, it takes no memory.
  WAGGLE_TRY_STATUS(bind_again());
  return result;
}

std::vector<MetadataLeaf> Trainer::metadata(std::int64_t epoch) const {
  std::vector<double> decays;
  for (auto const& group : optimizer_.groups()) decays.push_back(group.weight_decay);
  auto const counts = model_->tensors_per_group();
  return optimizer_metadata(config_.train,
                            counts,
                            decays,
                            learning_rate(config_.train, epoch),
                            has_schedule(config_.train));
}

std::vector<TensorSpec> Trainer::file_tensors() const {
  auto tensors = model_->parameters();
  tensors.insert(tensors.end(), model_->extras().begin(), model_->extras().end());
  return tensors;
}

Result<std::uint64_t> Trainer::export_to(
    int target, std::span<std::pair<std::string, std::string> const> metadata) const {
  std::vector<std::span<float const>> const parts{buffers_.model.parameters, buffers_.model.extras};
  return write_safetensors(target, file_tensors(), parts, metadata);
}

Status Trainer::import_from(int source) {
  WAGGLE_TRY(auto const values, read_safetensors(source, file_tensors()));
  if (!all_finite(values)) return Error{Errc::malformed, "safetensors: values that are not finite"};
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(model_->parameter_values());
  std::copy(values.begin(), middle, buffers_.model.parameters.begin());
  std::copy(middle, values.end(), buffers_.model.extras.begin());
  std::fill(buffers_.statistics.begin(), buffers_.statistics.end(), 0.0f);
  model_->written();
  return ok();
}

Result<std::string> Trainer::continue_text(std::span<std::int64_t const> prompt,
                                           std::uint64_t position) {
  constexpr std::uint64_t kGenerate = 4;
  Random random(seed_, kGenerate, position);
  auto const context = static_cast<std::size_t>(config_.model.context);
  std::vector<std::int64_t> tokens(prompt.begin(), prompt.end());
  std::string out;
  for (std::uint32_t i = 0; i < kGenerated; ++i) {
    auto const length = std::min(context, tokens.size());
    Input input;
    input.count = 1;
    input.tokens = std::span(tokens).last(length);
    WAGGLE_TRY(auto const probabilities, model_->probabilities(input));
    std::vector<double> weights;
    double total = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(256, probabilities.size()); ++k)
      total +=
          weights.emplace_back(std::pow(static_cast<double>(probabilities[k]), 1 / kTemperature));
    double left = random.unit() * total;
    std::size_t byte = 0;
    while (byte + 1 < weights.size() && (left -= weights[byte]) > 0) ++byte;
    tokens.push_back(static_cast<std::int64_t>(byte));
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

Result<std::vector<TrainerPrediction>> Trainer::predictions(std::uint32_t first,
                                                            std::uint32_t count) {
  if (first >= test_samples())
    return Error{Errc::invalid, cat("sample ", first, " of ", test_samples())};
  WAGGLE_TRY_STATUS(bind_again());
  count = std::min({count, test_samples() - first, 64u});
  std::vector<TrainerPrediction> out(count);
  auto const input = take(first, count);
  if (text_) {
    auto const window = static_cast<std::size_t>(config_.model.context + 1);
    auto const windows = tokens_;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const prompt =
          std::span(windows).subspan(i * window, std::max<std::size_t>(window / 2, 1));
      for (auto const token : prompt) out[i].prompt.push_back(static_cast<char>(token));
      WAGGLE_TRY(out[i].text, continue_text(prompt, first + i));
    }
    return out;
  }
  WAGGLE_TRY(auto const probabilities, model_->probabilities(input));
  auto const& set = test_images_->set();
  auto const classes = static_cast<std::ptrdiff_t>(config_.model.classes);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto const begin =
        set.pixels.begin() + static_cast<std::ptrdiff_t>((first + i) * set.image_size());
    out[i].pixels.assign(begin, begin + static_cast<std::ptrdiff_t>(set.image_size()));
    out[i].channels = set.channels;
    out[i].height = set.height;
    out[i].width = set.width;
    out[i].label = set.labels[first + i];
    auto const p = probabilities.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    out[i].probabilities.assign(p, p + classes);
  }
  return out;
}

}  // namespace waggle::train
