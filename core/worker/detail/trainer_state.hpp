// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/signal.hpp"
#include "core/base/text.hpp"
#include "core/worker/detail/child.hpp"
#include "core/worker/detail/state_layout.hpp"
#include "core/worker/detail/undo.hpp"
#include "core/worker/pacer.hpp"
#include "core/worker/trainer_process.hpp"

namespace waggle::worker {

/// Which buffers a call may tear.
enum Torn : unsigned { kNone = 0, kGradients = 1, kExtras = 2, kParameters = 4, kStatistics = 8 };

/// The process behind a TrainerProcess, the buffers shared with it, and the calls that survive its
/// death. One thread: the caller's.
struct TrainerProcess::State {
  Runtime& runtime;
  TrainerOptions options;
  std::vector<Fd> files;
  Facts facts;
  Fd memory[4];  // parameters, gradients, extras, statistics
  Mapping mappings[4];
  Undoable parameters, gradients, extras, statistics;
  std::unique_ptr<Child> child;
  std::unique_ptr<Child> leaving;  // killed; may still hold its memory
  Runtime::TimerId leaving_timer{};
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
  Runtime::TimerId idle_timer{};
  bool outdated = false;  // the process that runs was told what no longer holds
  bool let_go = false;    // the process was ended because nobody asked it anything
  bool gpu = true;        // the next process may use one
  std::string gpu_trouble;
  std::optional<GpuShortage> gpu_shortage;  // why it was left, where memory was the reason
  Duration gpu_time{};
  Duration cpu_ended{};                // of the processes that are no more
  Duration cpu_looked{}, cpu_paced{};  // what the pacer has seen: of all threads; of one
  TimePoint asked{};                   // when the last question of a call was put
  Pacer cpu_pacer, gpu_pacer;
  Signal rest;  // something that a rest depends on is another
  bool rest_ended = false;

  State(Runtime& r, TrainerOptions o) : runtime(r), options(std::move(o)), rest(r) {}

  ~State() {
    runtime.cancel(idle_timer);
    runtime.cancel(leaving_timer);
  }

  State(State const&) = delete;
  State& operator=(State const&) = delete;

  void begin_call();
  /// From here on the process is idle.
  void end_call();
  void arm_idle_timer();

  /// The process has ended: what it used is counted.
  void bury(std::unique_ptr<Child>& process);
  /// Kills the process, if there is one, and waits for nothing; the next one waits for its end.
  void retire();
  void bury_later();

  /// Processor time of all processes so far.
  Duration cpu_time() const noexcept;
  /// The same a thread, by the number of threads at each time.
  Duration cpu_used() noexcept;
  /// What a trainer says that its answer took: a stranger's word, so at most the time since it was
  /// asked.
  Duration taken(std::uint64_t nanoseconds) const noexcept;
  Result<Evaluation> to_evaluation(Result<Message> answer);

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
  Co<Result<Message>> exchange(Message question, std::vector<int> descriptors, TimePoint deadline);

  Co<Status> launch(TimePoint deadline);

  Status make_buffers();

  [[nodiscard]] bool on_gpu() const noexcept { return !facts.device.starts_with("cpu"); }

  /// The process is of no use without the GPU that it had; the next one does without. Error:
  /// closed.
  Co<Error> lose_gpu(std::string why);

  /// The same of a GPU whose memory is too small. `why`: in the driver's words.
  Co<Error> lose_full_gpu(std::string why);

  /// The same between two calls, for a batch that cannot be made smaller: the next one does
  /// without.
  Co<void> leave_full_gpu(std::string why);

  Co<Error> end_on_gpu(std::string why);

  /// As exchange(), with a refusal turned into an error.
  Co<Result<Message>> ask_once(Message question, std::vector<int> descriptors, TimePoint deadline);

  /// Starts the process if there is none. Errors: closed after kMaxAttempts deaths.
  Co<Status> ensure(TimePoint deadline);

  /// A call that survives the trainer's death: put back what it may have torn, start, ask again.
  /// too_large (the trainer's memory) comes back with the buffers put back.
  Co<Result<Message>> call(Message question,
                           std::vector<int> descriptors,
                           unsigned torn,
                           TimePoint deadline);

  Co<Result<Message>> call(Message question, unsigned torn, TimePoint deadline);

  /// Waits until the time used so far, of processor and GPU, is within the shares; at most half of
  /// what is left until the deadline, for the micro-batch needs some, too. False: end_rest() came
  /// first. The process is not idle meanwhile. Errors: cancelled.
  Co<Result<bool>> wait_for_duty(TimePoint deadline);
};

/// The answer as T. Errors: the call's own; malformed (another kind of answer).
template <class T>
Result<T> expect(Result<Message> answer) {
  if (!answer) return std::move(answer).error();
  if (auto* const value = std::get_if<T>(&*answer)) return std::move(*value);
  return Error{Errc::malformed, cat("trainer answered with message kind ", answer->index())};
}

}  // namespace waggle::worker
