// SPDX-License-Identifier: MIT
#include "core/worker/trainer_process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>

#include "core/base/assert.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/worker/detail/trainer_state.hpp"

namespace waggle::worker {
namespace {

using std::chrono::milliseconds;

Result<Fd> open_file(std::filesystem::path const& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return Error{errno == ENOENT ? Errc::not_found : Errc::io,
                 cat(path.string(), ": ", std::strerror(errno))};
  return file;
}

}  // namespace

Result<std::filesystem::path> find_trainer(std::filesystem::path const& chosen) {
  std::error_code error;
  if (auto const* const given = std::getenv("WAGGLE_TRAINER"); given != nullptr && *given != '\0') {
    if (std::filesystem::exists(given, error)) return std::filesystem::path(given);
    return Error{Errc::not_found, cat("WAGGLE_TRAINER names ", given, ", which is not there")};
  }
  if (!chosen.empty()) {
    if (std::filesystem::is_regular_file(chosen, error)) return chosen;
    return Error{
        Errc::not_found,
        cat("the setting trainer names ",
            chosen.string(),
            ", which is not there; set trainer to \"\" for the one that came with Waggle")};
  }
  auto const self = std::filesystem::read_symlink("/proc/self/exe", error);
  auto const beside = self.parent_path() / "waggle-trainer";
  if (!error && std::filesystem::exists(beside, error)) return beside;
  return Error{Errc::not_found,
               cat("no trainer: ", beside.string(), " is not there and WAGGLE_TRAINER is not set")};
}

TrainerProcess::TrainerProcess(std::unique_ptr<State> state) : state_(std::move(state)) {
}

TrainerProcess::~TrainerProcess() = default;

Co<Result<std::unique_ptr<TrainerProcess>>> TrainerProcess::start(Runtime& runtime,
                                                                  TrainerOptions options,
                                                                  TimePoint deadline) {
  auto state = std::make_unique<State>(runtime, std::move(options));
  if (state->options.executable.empty()) {
    auto found = find_trainer();
    if (!found) co_return std::move(found).error();
    state->options.executable = std::move(*found);
  }
  for (auto const* list : {&state->options.train_files, &state->options.test_files})
    for (auto const& path : *list) {
      auto file = open_file(path);
      if (!file) co_return std::move(file).error();
      state->files.push_back(std::move(*file));
    }
  if (state->files.size() > kMaxDescriptors)
    co_return Error{Errc::too_large,
                    cat(state->files.size(), " data files, limit ", kMaxDescriptors)};
  state->begin_call();
  auto started = co_await state->ensure(deadline);
  state->end_call();
  if (!started) co_return std::move(started).error();
  co_return std::unique_ptr<TrainerProcess>(new TrainerProcess(std::move(state)));
}

Facts const& TrainerProcess::facts() const noexcept {
  return state_->facts;
}

std::span<float> TrainerProcess::parameters() noexcept {
  ++state_->version;
  return state_->parameters.values();
}

std::span<float> TrainerProcess::gradients() noexcept {
  state_->gradients.touch();
  return state_->gradients.values();
}

std::span<float> TrainerProcess::extras() noexcept {
  ++state_->version;
  return state_->extras.values();
}

std::span<float> TrainerProcess::statistics() noexcept {
  state_->statistics.touch();
  return state_->statistics.values();
}

void TrainerProcess::clear_gradients() noexcept {
  state_->gradients.clear();
}

Co<Result<Batch>> TrainerProcess::accumulate(std::uint32_t most, TimePoint deadline) {
  auto& s = *state_;
  auto gap = co_await s.wait_for_duty(deadline);
  if (!gap) co_return std::move(gap).error();
  if (!*gap) co_return Batch{};
  for (;;) {
    auto const samples = most == 0 ? s.micro_batch : std::min(s.micro_batch, most);
    Message question = Accumulate{s.position, samples, s.version, s.options.threads};
    auto answer = co_await s.call(std::move(question), kGradients | kExtras, deadline);
    bool const memory = !answer && answer.error().code == Errc::too_large;
    // A process that dies again and again on one batch may have met the kernel's out-of-memory
    // killer.
    bool const dying = !answer && s.deaths == kMaxAttempts;
    if ((memory || dying) && samples > 1) {
      s.micro_batch = samples / 2;
      s.trouble = cat(
          memory ? "out of memory" : "the trainer kept dying", ": micro-batch now ", s.micro_batch);
      log::warning("worker", s.trouble);
      continue;
    }
    if (memory && s.on_gpu() && answer.error().detail != kHostMemory) {
      auto why = answer.error().detail;
      co_await s.leave_full_gpu(std::move(why));
      continue;
    }
    auto done = expect<BatchDone>(std::move(answer));
    if (!done) co_return std::move(done).error();
    s.position += samples;
    s.gpu_time += s.taken(done->gpu_nanoseconds);
    if (!done->finite) s.restore(kGradients | kExtras);
    co_return Batch{done->samples, done->loss_sum, done->finite, s.taken(done->nanoseconds)};
  }
}

Co<Result<Step>> TrainerProcess::apply(std::int64_t epoch, TimePoint deadline) {
  auto& s = *state_;
  Message question = Apply{epoch, s.steps};
  auto answer = co_await s.call(std::move(question), kParameters | kStatistics, deadline);
  auto done = expect<Stepped>(std::move(answer));
  if (!done) co_return std::move(done).error();
  ++s.steps;
  co_return Step{done->learning_rate, done->gradient_norm};
}

Co<Result<Evaluation>> TrainerProcess::evaluate(TimePoint deadline) {
  Message question = Evaluate{state_->version, 0};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  co_return state_->to_evaluation(std::move(answer));
}

Co<Result<Evaluation>> TrainerProcess::evaluate_fixed(TimePoint deadline) {
  Message question = Evaluate{state_->version, state_->facts.probe_samples()};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  co_return state_->to_evaluation(std::move(answer));
}

Co<Result<Evaluation>> TrainerProcess::probe(std::span<float const> values, TimePoint deadline) {
  auto const needed = state_->facts.parameter_values() + state_->facts.extra_values();
  if (values.size() < needed)
    co_return Error{Errc::invalid,
                    cat("candidate of ", values.size(), " values, the model has ", needed)};
  auto memory = make_memory("waggle-candidate", needed * sizeof(float));
  if (!memory) co_return std::move(memory).error();
  auto mapping = Mapping::map(memory->get(), needed);
  if (!mapping) co_return std::move(mapping).error();
  std::copy_n(values.begin(), needed, mapping->values().begin());
  Message question = Probe{state_->facts.probe_samples()};
  std::vector<int> descriptors(1, memory->get());
  auto answer = co_await state_->call(std::move(question), std::move(descriptors), kNone, deadline);
  co_return state_->to_evaluation(std::move(answer));
}

std::vector<float> TrainerProcess::averaged_state() const {
  return pack_averaged(state_->parts());
}

Status TrainerProcess::load_averaged_state(std::span<float const> values) {
  WAGGLE_ASSERT(!state_->busy, "loading while the trainer works");
  WAGGLE_TRY_STATUS(unpack_averaged(state_->facts, values, state_->parts()));
  state_->statistics.touch();
  ++state_->version;
  return ok();
}

Co<Result<TrainingState>> TrainerProcess::snapshot(std::int64_t epoch, TimePoint deadline) {
  TrainingState out;
  out.values = pack_download(state_->facts, state_->parts(), state_->steps);
  Message question = Metadata{epoch};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  auto blob = expect<Blob>(std::move(answer));
  if (!blob) co_return std::move(blob).error();
  auto metadata = wire::Msgpack::decode(blob->bytes);
  if (!metadata) co_return std::move(metadata).error();
  out.optimizer_metadata = std::move(*metadata);
  co_return std::move(out);
}

Status TrainerProcess::restore(std::span<float const> values) {
  WAGGLE_ASSERT(!state_->busy, "restoring while the trainer works");
  WAGGLE_TRY(auto const steps, unpack_download(state_->facts, values, state_->parts()));
  if (state_->facts.step_tensors) state_->steps = steps;
  state_->statistics.touch();
  ++state_->version;
  return ok();
}

Co<Status> TrainerProcess::export_safetensors(
    int target, std::vector<std::pair<std::string, std::string>> metadata, TimePoint deadline) {
  Message question = Export{std::move(metadata)};
  std::vector<int> descriptors(1, target);
  // Not repeated by itself: a second try must start with an empty file, which is the caller's.
  state_->begin_call();
  Result<Message> answer = Error{Errc::closed, ""};
  auto alive = co_await state_->ensure(deadline);
  if (alive)
    answer = co_await state_->ask_once(std::move(question), std::move(descriptors), deadline);
  else
    answer = std::move(alive).error();
  state_->end_call();
  auto done = expect<Done>(std::move(answer));
  if (!done) co_return std::move(done).error();
  co_return ok();
}

Co<Status> TrainerProcess::import_safetensors(int source, TimePoint deadline) {
  Message question = Import{};
  std::vector<int> descriptors(1, source);
  auto answer = co_await state_->call(
      std::move(question), std::move(descriptors), kParameters | kExtras | kStatistics, deadline);
  auto done = expect<Done>(std::move(answer));
  if (!done) co_return std::move(done).error();
  state_->steps = 0;
  co_return ok();
}

Co<Result<std::vector<Prediction>>> TrainerProcess::predictions(std::uint32_t first,
                                                                std::uint32_t count,
                                                                TimePoint deadline) {
  Message question = Predict{state_->version, first, count};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  auto done = expect<Predicted>(std::move(answer));
  if (!done) co_return std::move(done).error();
  std::vector<Prediction> out;
  for (auto& item : done->items) {
    Prediction p;
    auto const* const pixels = as_u8(ByteView(item.pixels));
    p.pixels.assign(pixels, pixels + item.pixels.size());
    p.channels = item.channels;
    p.height = item.height;
    p.width = item.width;
    p.label = item.label;
    p.probabilities = std::move(item.probabilities);
    p.prompt = std::move(item.prompt);
    p.text = std::move(item.text);
    out.push_back(std::move(p));
  }
  co_return std::move(out);
}

Duration TrainerProcess::cpu_time() const noexcept {
  return state_->cpu_time();
}

void TrainerProcess::set_duty(double share) noexcept {
  state_->cpu_pacer.set_share(share);
  state_->rest.notify_all();
}

void TrainerProcess::set_gpu_duty(double share) noexcept {
  state_->gpu_pacer.set_share(share);
  state_->rest.notify_all();
}

void TrainerProcess::set_threads(std::uint32_t threads) noexcept {
  threads = std::max(threads, 1u);
  if (threads == state_->options.threads) return;
  (void)state_->cpu_used();  // until now, by the old number
  state_->options.threads = threads;
  state_->rest.notify_all();
}

void TrainerProcess::end_rest() noexcept {
  state_->rest_ended = true;
  state_->rest.notify_all();
}

void TrainerProcess::set_memory_limit(std::uint64_t bytes) noexcept {
  if (state_->options.memory_limit == bytes) return;
  state_->options.memory_limit = bytes;
  state_->outdated = true;
  state_->micro_batch = std::max(state_->facts.micro_batch, 1u);
}

void TrainerProcess::set_gpu_memory_limit(std::uint64_t bytes) noexcept {
  if (state_->options.gpu_memory_limit == bytes) return;
  state_->options.gpu_memory_limit = bytes;
  if (!state_->facts.can_gpu) return;
  state_->gpu = true;  // it may have been lost to the old one
  state_->outdated = true;
  state_->micro_batch = std::max(state_->facts.micro_batch, 1u);
}

void TrainerProcess::try_gpu() noexcept {
  auto& s = *state_;
  if (!s.facts.can_gpu || !s.facts.device.starts_with("cpu")) return;
  s.gpu = true;
  s.outdated = true;
  s.micro_batch = std::max(s.facts.micro_batch, 1u);
}

void TrainerProcess::pause_now() noexcept {
  state_->paused = true;
  if (state_->child) state_->child->pause();
}

void TrainerProcess::resume() noexcept {
  state_->paused = false;
  if (state_->child) state_->child->resume();
}

std::uint64_t TrainerProcess::stream_position() const noexcept {
  return state_->position;
}

void TrainerProcess::set_stream_position(std::uint64_t position) noexcept {
  state_->position = position;
}

std::uint32_t TrainerProcess::micro_batch() const noexcept {
  return state_->micro_batch;
}

std::uint64_t TrainerProcess::restarts() const noexcept {
  return state_->restarts;
}

Duration TrainerProcess::gpu_time() const noexcept {
  return state_->gpu_time;
}

std::string const& TrainerProcess::gpu_trouble() const noexcept {
  return state_->gpu_trouble;
}

std::optional<GpuShortage> const& TrainerProcess::gpu_shortage() const noexcept {
  return state_->gpu_shortage;
}

int TrainerProcess::pid() const noexcept {
  return state_->child ? state_->child->pid() : 0;
}

std::string const& TrainerProcess::last_trouble() const noexcept {
  return state_->trouble;
}

Co<void> TrainerProcess::close(TimePoint deadline) {
  state_->runtime.cancel(state_->idle_timer);
  state_->runtime.cancel(state_->leaving_timer);
  if (state_->leaving) (void)co_await state_->leaving->reap(Duration{});
  state_->bury(state_->leaving);
  if (!state_->child) co_return;
  state_->child->hang_up();
  (void)co_await state_->child->reap(std::max(deadline - state_->runtime.now(), Duration{}));
  state_->bury(state_->child);
}

}  // namespace waggle::worker
