// SPDX-License-Identifier: MIT
#include "core/node/session/trainer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/device/gpu_driver.hpp"
#include "core/node/session/gpu_watch.hpp"
#include "core/worker/trainer_process.hpp"

namespace waggle::node {
namespace {

constexpr Duration kCloseTime = std::chrono::seconds(5);

averaging::Schema schema_of(std::vector<worker::TensorFacts> const& tensors) {
  averaging::Schema schema;
  for (auto const& tensor : tensors) schema.push_back({tensor.shape, false});
  return schema;
}

// AdamW's moments, whatever the codec, travel as float32.
averaging::Schema state_schema(worker::Facts const& facts) {
  auto schema = schema_of(facts.state_averaging());
  if (!facts.step_tensors) return schema;
  auto const statistics = facts.parameters.size() * facts.statistics.size();
  for (std::size_t i = 0; i < statistics; ++i)
    schema[facts.parameters.size() + i].role = compress::TensorRole::optimizer;
  return schema;
}

Error failed(char const* what, std::filesystem::path const& path) {
  return Error{Errc::io, cat("cannot ", what, " ", path.string(), ": ", std::strerror(errno))};
}

// Every n-th pixel of every n-th row, so that no side is longer than a window needs.
void thin_out(Example& e) {
  auto const step = (std::max(e.height, e.width) + Examples::kMostSide - 1) / Examples::kMostSide;
  if (step <= 1) return;
  std::vector<std::uint8_t> pixels;
  for (std::size_t c = 0; c < e.channels; ++c)
    for (std::size_t y = 0; y < e.height; y += step)
      for (std::size_t x = 0; x < e.width; x += step)
        pixels.push_back(e.pixels[(c * e.height + y) * e.width + x]);
  e.height = (e.height + step - 1) / step;
  e.width = (e.width + step - 1) / step;
  e.pixels = std::move(pixels);
}

// Nothing for a picture whose pixels do not fit its size: a trainer's answer is a stranger's.
std::optional<Example> example_of(worker::Prediction prediction) {
  constexpr std::uint32_t kMaxSide = 4096;
  Example e;
  e.channels = prediction.channels;
  e.height = prediction.height;
  e.width = prediction.width;
  e.pixels = std::move(prediction.pixels);
  if (e.channels > 64 || e.height > kMaxSide || e.width > kMaxSide ||
      e.pixels.size() != std::size_t{e.channels} * e.height * e.width)
    return std::nullopt;
  thin_out(e);
  e.label = prediction.label;
  e.prompt = std::move(prediction.prompt);
  e.text = std::move(prediction.text);
  for (std::size_t i = 0; i < prediction.probabilities.size(); ++i) {
    auto const share = static_cast<double>(prediction.probabilities[i]);
    if (std::isfinite(share)) e.guesses.push_back({static_cast<std::int64_t>(i), share});
  }
  auto const keep = std::min(Examples::kMostGuesses, e.guesses.size());
  std::partial_sort(e.guesses.begin(),
                    e.guesses.begin() + static_cast<std::ptrdiff_t>(keep),
                    e.guesses.end(),
                    [](Guess const& a, Guess const& b) { return a.share > b.share; });
  e.guesses.resize(keep);
  return e;
}

GpuDriver driver_of(device::GpuMaker maker) {
  using device::GpuMaker;
  auto const other = maker == GpuMaker::amd ? GpuMaker::nvidia : GpuMaker::amd;
  return {device::missing_driver_files(maker),
          maker,
          !device::on_pci_bus(maker) && device::on_pci_bus(other)};
}

class ProcessTrainer final : public Trainer {
 public:
  ProcessTrainer(Services& services,
                 bool classifies,
                 std::unique_ptr<worker::TrainerProcess> process)
      : services_(services), classifies_(classifies), process_(std::move(process)) {
    auto const& facts = process_->facts();
    facts_.parameters = schema_of(facts.parameters);
    facts_.state_averaging = state_schema(facts);
    facts_.download = schema_of(facts.download());
    facts_.training_flops_per_sample = facts.training_flops_per_sample;
  }

  optim::ModelFacts const& facts() const noexcept override { return facts_; }

  std::span<float> gradients() noexcept override { return process_->gradients(); }

  void clear_gradients() noexcept override { process_->clear_gradients(); }

  bool on_gpu() const noexcept override { return !process_->facts().device.starts_with("cpu"); }

  std::string gpu() const override { return process_->facts().gpu; }

  std::uint64_t parameter_count() const noexcept override {
    return process_->facts().parameter_values();
  }

  Duration cpu_time() const noexcept override { return process_->cpu_time(); }

  void set_duty(double share) noexcept override { process_->set_duty(share); }

  void set_gpu_duty(double share) noexcept override { process_->set_gpu_duty(share); }

  void end_rest() noexcept override { process_->end_rest(); }

  void set_threads(std::size_t threads) noexcept override {
    process_->set_threads(static_cast<std::uint32_t>(threads));
  }

  void set_memory_limit(std::uint64_t bytes) noexcept override {
    process_->set_memory_limit(bytes);
  }

  void set_gpu_memory_limit(std::uint64_t bytes) noexcept override {
    process_->set_gpu_memory_limit(bytes);
  }

  Co<Result<optim::BatchResult>> accumulate(TimePoint deadline) override {
    co_await look_at_gpu();
    WAGGLE_CO_TRY(auto const batch, co_await process_->accumulate(0, deadline));
    co_return optim::BatchResult{batch.samples, batch.loss_sum, batch.finite, batch.took};
  }

  Co<Result<optim::StepResult>> apply(std::int64_t epoch, TimePoint deadline) override {
    WAGGLE_CO_TRY(auto const step, co_await process_->apply(epoch, deadline));
    co_return optim::StepResult{step.learning_rate, step.gradient_norm};
  }

  Co<Result<std::vector<float>>> state_for_averaging(TimePoint) override {
    co_return process_->averaged_state();
  }

  Co<Status> load_averaged_state(std::span<float const> values, TimePoint) override {
    co_return process_->load_averaged_state(values);
  }

  Co<Result<std::shared_ptr<averaging::StateSnapshot const>>> snapshot(
      std::int64_t epoch, TimePoint deadline) override {
    WAGGLE_CO_TRY(auto state, co_await process_->snapshot(epoch, deadline));
    auto snapshot = std::make_shared<averaging::StateSnapshot>();
    snapshot->epoch = epoch;
    snapshot->schema = facts_.download;
    snapshot->values = std::move(state.values);
    snapshot->optimizer_metadata = std::move(state.optimizer_metadata);
    co_return std::shared_ptr<averaging::StateSnapshot const>(std::move(snapshot));
  }

  Co<Status> restore(averaging::StateSnapshot const& state, TimePoint) override {
    if (state.schema != facts_.download)
      co_return Error{Errc::invalid, "the state belongs to another model"};
    co_return process_->restore(state.values);
  }

  Co<Result<double>> probe(averaging::StateSnapshot const& candidate, TimePoint deadline) override {
    WAGGLE_CO_TRY(auto const measured, co_await process_->probe(candidate.values, deadline));
    co_return measured.loss;
  }

  Co<Result<Evaluation>> evaluate(bool whole, TimePoint deadline) override {
    // Two statements: g++ 12 miscompiles ?: around co_await.
    worker::Evaluation measured;
    if (whole) {
      WAGGLE_CO_TRY(measured, co_await process_->evaluate(deadline));
    } else {
      WAGGLE_CO_TRY(measured, co_await process_->evaluate_fixed(deadline));
    }
    Evaluation evaluation{measured.samples, measured.loss, {}};
    if (classifies_) evaluation.accuracy = measured.accuracy;
    co_return evaluation;
  }

  Co<Result<std::vector<Example>>> examples(TimePoint deadline) override {
    auto const there = std::min<std::uint64_t>(process_->facts().test_samples, 1u << 20);
    auto const most = classifies_ ? Examples::kMost : Examples::kMostTexts;
    auto const count = static_cast<std::uint32_t>(std::min<std::uint64_t>(there, most));
    std::vector<Example> examples;
    if (count == 0) co_return examples;
    WAGGLE_CO_TRY(auto predictions, co_await process_->predictions(0, count, deadline));
    for (auto& prediction : predictions)
      if (auto example = example_of(std::move(prediction)); example && examples.size() < most)
        examples.push_back(*std::move(example));
    co_return examples;
  }

  Co<Status> write_weights(std::filesystem::path path, TimePoint deadline) override {
    auto temporary = path;
    temporary += ".part";
    Fd const file(
        ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) co_return failed("create", temporary);
    std::vector<std::pair<std::string, std::string>> metadata{{"format", "pt"}};
    auto written = co_await process_->export_safetensors(file.get(), std::move(metadata), deadline);
    // On the disk thread: fsync of a large file would hold up the network.
    auto finish = [fd = file.get(), temporary, path]() -> Status {
      if (::fsync(fd) != 0) return failed("flush", temporary);
      if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename to", path);
      return ok();
    };
    if (written) written = co_await on(services_.disk(), services_.runtime(), std::move(finish));
    if (!written) ::unlink(temporary.c_str());
    co_return written;
  }

  Co<Status> read_weights(std::filesystem::path path, TimePoint deadline) override {
    Fd const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) co_return failed("open", path);
    co_return co_await process_->import_safetensors(file.get(), deadline);
  }

  Co<void> close() override { co_await process_->close(services_.runtime().now() + kCloseTime); }

 private:
  // Before a batch, and so only while it trains: a pause is no time to find out.
  Co<void> look_at_gpu() {
    auto const& facts = process_->facts();
    // Only in a sandbox of Landlock's does the trainer start a driver.
    bool const closes = facts.sandbox.find("landlock") != std::string::npos ||
                        facts.sandbox == "none: switched off";
    GpuState const state{
        facts.can_gpu, on_gpu(), process_->gpu_trouble(), closes, process_->gpu_shortage()};
    GpuDriver driver;
    if (watch_.asks(state, services_.runtime().now())) {
      auto const maker = facts.rocm ? device::GpuMaker::amd : device::GpuMaker::nvidia;
      auto look = [maker] { return driver_of(maker); };
      driver = co_await on(services_.disk(), services_.runtime(), std::move(look));
    }
    auto const advice = watch_.look(state, driver, services_.runtime().now());
    if (!advice.notice.empty()) services_.notice(advice.notice);
    if (advice.try_again) process_->try_gpu();
  }

  Services& services_;
  bool classifies_;
  GpuWatch watch_;
  std::unique_ptr<worker::TrainerProcess> process_;
  optim::ModelFacts facts_;
};

Result<std::vector<std::filesystem::path>> paths_of(std::vector<std::string> const& names,
                                                    TrainerOptions const& options) {
  std::vector<std::filesystem::path> paths;
  for (auto const& name : names) {
    auto const found = options.files.find(name);
    if (found == options.files.end())
      return Error{Errc::not_found,
                   cat("the task names the data file ", name, ", but no blob holds it")};
    paths.push_back(found->second);
  }
  return paths;
}

}  // namespace

Co<Result<std::unique_ptr<Trainer>>> Trainer::start(Services& services,
                                                    task::Definition const& definition,
                                                    TrainerOptions options,
                                                    TimePoint deadline) {
  worker::TrainerOptions process_options;
  WAGGLE_CO_TRY(process_options.executable, worker::find_trainer(services.options().trainer));
  process_options.config_json = definition.trainer_json();
  process_options.seed = options.seed;
  process_options.init_seed = options.seed;
  process_options.threads = static_cast<std::uint32_t>(options.threads);
  process_options.memory_limit = options.memory_limit;
  process_options.gpu_memory_limit = options.gpu_memory_limit;
  if (!options.files.empty()) {
    WAGGLE_CO_TRY(process_options.train_files, paths_of(definition.data.train, options));
    WAGGLE_CO_TRY(process_options.test_files, paths_of(definition.data.test, options));
  }
  bool const classifies = definition.model.family == "resnet";
  WAGGLE_CO_TRY(auto process,
                co_await worker::TrainerProcess::start(
                    services.runtime(), std::move(process_options), deadline));
  co_return std::unique_ptr<Trainer>(
      std::make_unique<ProcessTrainer>(services, classifies, std::move(process)));
}

}  // namespace waggle::node
