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
#include "core/worker/detail/child.hpp"
#include "core/worker/detail/state_layout.hpp"
#include "core/worker/detail/undo.hpp"
#include "core/worker/packet.hpp"

namespace waggle::worker {
namespace {

using std::chrono::milliseconds;

/// Which buffers a call may tear.
enum Torn : unsigned { kNone = 0, kGradients = 1, kExtras = 2, kParameters = 4, kStatistics = 8 };

Error to_error(Failed const& failure) {
  switch (failure.kind) {
    case Failed::Kind::memory:
      return {Errc::too_large, failure.text};
    case Failed::Kind::malformed:
      return {Errc::malformed, failure.text};
    case Failed::Kind::io:
      return {Errc::io, failure.text};
    default:
      return {Errc::invalid, failure.text};
  }
}

template <class T>
Result<T> expect(Result<Message> answer) {
  if (!answer) return std::move(answer).error();
  if (auto* const value = std::get_if<T>(&*answer)) return std::move(*value);
  return Error{Errc::malformed, cat("trainer answered with message kind ", answer->index())};
}

Result<Fd> open_file(std::filesystem::path const& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return Error{errno == ENOENT ? Errc::not_found : Errc::io,
                 cat(path.string(), ": ", std::strerror(errno))};
  return file;
}

}  // namespace

struct TrainerProcess::State {
  Runtime& runtime;
  TrainerOptions options;
  std::vector<Fd> files;
  Facts facts;
  Fd memory[4];  // parameters, gradients, extras, statistics
  Mapping mappings[4];
  Undoable parameters, gradients, extras, statistics;
  std::unique_ptr<Child> child;
  bool have_buffers = false;
  bool busy = false;
  bool paused = false;
  std::uint64_t version = 1;
  std::uint64_t steps = 0;
  std::uint64_t position = 0;
  std::uint32_t micro_batch = 1;
  std::uint64_t restarts = 0;
  int deaths = 0;  // in the last call, while it was being answered
  std::string trouble;
  double duty = 1;
  TimePoint duty_since{};
  Duration duty_cpu{};

  State(Runtime& r, TrainerOptions o) : runtime(r), options(std::move(o)) {}

  StateParts parts() const { return {parameters.values(), extras.values(), statistics.values()}; }

  void save(unsigned torn) {
    each(torn, [](Undoable& buffer) { buffer.save(); });
  }

  void restore(unsigned torn) {
    each(torn, [](Undoable& buffer) { buffer.restore(); });
    ++version;
  }

  template <class F>
  void each(unsigned torn, F const& f) {
    if (torn & kGradients) f(gradients);
    if (torn & kExtras) f(extras);
    if (torn & kParameters) f(parameters);
    if (torn & kStatistics) f(statistics);
  }

  /// One question, one answer; a trainer that answers late or nonsense is killed.
  Co<Result<Message>> exchange(Message question, std::vector<int> descriptors, TimePoint deadline) {
    auto bytes = encode(question);
    if (!bytes) co_return std::move(bytes).error();
    auto const sent = child->send(*bytes, descriptors);
    if (!sent && sent.error().code != Errc::closed) co_return sent.error();
    Result<Packet> packet = co_await child->receive(deadline);
    Error error{Errc::closed, ""};
    if (packet) {
      auto answer = decode(packet->bytes);
      if (answer) co_return answer;
      error = std::move(answer).error();
    } else {
      error = std::move(packet).error();
    }
    if (error.code == Errc::closed) {
      auto const how = co_await child->reap(std::chrono::seconds(2));
      trouble = cat("the trainer died: ", how);
      error.detail = trouble;
    } else {
      // It writes the shared buffers until it is dead: they are put back only after that.
      child->kill();
      (void)co_await child->reap(Duration{});
      trouble = cat("the trainer was killed: ", error.detail);
    }
    child.reset();
    log::warning("worker", trouble);
    // Nonsense is as good as a death; only our own deadline and scope are different.
    if (error.code != Errc::timeout && error.code != Errc::cancelled) error.code = Errc::closed;
    co_return error;
  }

  Co<Status> launch(TimePoint deadline) {
    ChildOptions child_options{options.executable, options.threads, options.priority};
    auto spawned = Child::spawn(runtime, child_options);
    if (!spawned) co_return std::move(spawned).error();
    child = std::move(*spawned);
    duty_since = {};
    if (paused) child->pause();
    Start start;
    start.config_json = options.config_json;
    start.seed = options.seed;
    start.init_seed = options.init_seed;
    start.threads = options.threads;
    start.memory_limit = options.memory_limit;
    start.sandbox = options.sandbox;
    start.train_files = static_cast<std::uint32_t>(options.train_files.size());
    std::vector<int> descriptors;
    for (auto const& file : files) descriptors.push_back(file.get());
    Message question = std::move(start);
    auto answer = co_await ask_once(std::move(question), std::move(descriptors), deadline);
    auto told = expect<Facts>(std::move(answer));
    if (!told) co_return std::move(told).error();
    if (have_buffers && (told->parameters != facts.parameters || told->extras != facts.extras ||
                         told->statistics != facts.statistics))
      co_return Error{Errc::invalid, "the trainer came back with another model"};
    bool const first = !have_buffers;
    if (first) {
      facts = std::move(*told);
      micro_batch = std::max(facts.micro_batch, 1u);
      auto made = make_buffers();
      if (!made) co_return made;
    }
    std::vector<int> buffers;
    for (auto const& m : memory) buffers.push_back(m.get());
    Message hand_over = Buffers{first};
    auto ready = co_await ask_once(std::move(hand_over), std::move(buffers), deadline);
    auto done = expect<Done>(std::move(ready));
    if (!done) co_return std::move(done).error();
    have_buffers = true;
    co_return ok();
  }

  Status make_buffers() {
    std::size_t const sizes[] = {facts.parameter_values(),
                                 facts.parameter_values(),
                                 facts.extra_values(),
                                 facts.statistic_values()};
    char const* const names[] = {
        "waggle-parameters", "waggle-gradients", "waggle-extras", "waggle-statistics"};
    Undoable* const buffers[] = {&parameters, &gradients, &extras, &statistics};
    for (std::size_t i = 0; i < 4; ++i) {
      WAGGLE_TRY(memory[i], make_memory(names[i], sizes[i] * sizeof(float)));
      WAGGLE_TRY(mappings[i], Mapping::map(memory[i].get(), sizes[i]));
      buffers[i]->attach(mappings[i].values(), i == 1 || i == 3);
    }
    return ok();
  }

  /// As exchange(), with a refusal turned into an error.
  Co<Result<Message>> ask_once(Message question, std::vector<int> descriptors, TimePoint deadline) {
    auto answer = co_await exchange(std::move(question), std::move(descriptors), deadline);
    if (!answer) co_return answer;
    if (auto const* failure = std::get_if<Failed>(&*answer)) co_return to_error(*failure);
    co_return answer;
  }

  /// Starts the process if there is none. Errors: closed after kMaxAttempts deaths.
  Co<Status> ensure(TimePoint deadline) {
    for (int attempt = 1; !child; ++attempt) {
      if (have_buffers) ++restarts;
      auto launched = co_await launch(deadline);
      if (launched) break;
      child.reset();
      if (launched.error().code != Errc::closed || attempt >= kMaxAttempts) co_return launched;
    }
    co_return ok();
  }

  /// A call that survives the trainer's death: put back what it may have torn, start, ask again.
  /// too_large (the trainer's memory) comes back with the buffers put back.
  Co<Result<Message>> call(Message question,
                           std::vector<int> descriptors,
                           unsigned torn,
                           TimePoint deadline) {
    WAGGLE_ASSERT(!busy, "two calls on one trainer");
    busy = true;
    save(torn);
    deaths = 0;
    Result<Message> result = Error{Errc::closed, "the trainer kept dying"};
    for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
      auto alive = co_await ensure(deadline);
      if (!alive) {
        result = std::move(alive).error();
        break;
      }
      Message copy = question;
      std::vector<int> fds = descriptors;
      result = co_await ask_once(std::move(copy), std::move(fds), deadline);
      if (result) break;
      restore(torn);
      if (result.error().code != Errc::closed) break;
      ++deaths;
    }
    busy = false;
    co_return result;
  }

  Co<Result<Message>> call(Message question, unsigned torn, TimePoint deadline) {
    return call(std::move(question), std::vector<int>(), torn, deadline);
  }

  /// Waits until the processor time used so far is within the share.
  Co<Status> wait_for_duty(TimePoint deadline) {
    // Long enough to be even, short enough that a change of mind shows.
    constexpr Duration kWindow = std::chrono::seconds(10);
    if (duty >= 1 || !child) co_return ok();
    auto const now = runtime.now();
    auto const cpu = child->cpu_time();
    if (duty_since == TimePoint{} || now - duty_since > kWindow) {
      duty_since = now;
      duty_cpu = cpu;
      co_return ok();
    }
    auto const used = to_seconds(cpu - duty_cpu);
    auto const due = duty_since + seconds(used / (duty * std::max(options.threads, 1u)));
    if (due <= now) co_return ok();
    co_return co_await runtime.sleep_until(std::min(due, deadline));
  }
};

Result<std::filesystem::path> find_trainer() {
  std::error_code error;
  if (auto const* const given = std::getenv("WAGGLE_TRAINER"); given != nullptr && *given != '\0') {
    if (std::filesystem::exists(given, error)) return std::filesystem::path(given);
    return Error{Errc::not_found, cat("WAGGLE_TRAINER names ", given, ", which is not there")};
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
  auto started = co_await state->ensure(deadline);
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
  for (;;) {
    auto const samples = most == 0 ? s.micro_batch : std::min(s.micro_batch, most);
    Message question = Accumulate{s.position, samples, s.version};
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
    auto done = expect<BatchDone>(std::move(answer));
    if (!done) co_return std::move(done).error();
    s.position += samples;
    if (!done->finite) s.restore(kGradients | kExtras);
    co_return Batch{
        done->samples,
        done->loss_sum,
        done->finite,
        Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(done->nanoseconds, INT64_MAX)))};
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

namespace {

Result<Evaluation> to_evaluation(Result<Message> answer) {
  WAGGLE_TRY(auto const done, expect<Evaluated>(std::move(answer)));
  return Evaluation{done.samples, done.loss, done.accuracy};
}

}  // namespace

Co<Result<Evaluation>> TrainerProcess::evaluate(TimePoint deadline) {
  Message question = Evaluate{state_->version, 0};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  co_return to_evaluation(std::move(answer));
}

Co<Result<Evaluation>> TrainerProcess::evaluate_fixed(TimePoint deadline) {
  Message question = Evaluate{state_->version, state_->facts.probe_samples()};
  auto answer = co_await state_->call(std::move(question), kNone, deadline);
  co_return to_evaluation(std::move(answer));
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
  co_return to_evaluation(std::move(answer));
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
  WAGGLE_ASSERT(!state_->busy, "two calls on one trainer");
  auto alive = co_await state_->ensure(deadline);
  if (!alive) co_return alive;
  state_->busy = true;
  auto answer = co_await state_->ask_once(std::move(question), std::move(descriptors), deadline);
  state_->busy = false;
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

void TrainerProcess::set_duty(double share) noexcept {
  state_->duty = std::clamp(share, 0.01, 1.0);
  state_->duty_since = {};
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

int TrainerProcess::pid() const noexcept {
  return state_->child ? state_->child->pid() : 0;
}

std::string const& TrainerProcess::last_trouble() const noexcept {
  return state_->trouble;
}

Co<void> TrainerProcess::close(TimePoint deadline) {
  if (!state_->child) co_return;
  state_->child->hang_up();
  (void)co_await state_->child->reap(std::max(deadline - state_->runtime.now(), Duration{}));
  state_->child.reset();
}

}  // namespace waggle::worker
