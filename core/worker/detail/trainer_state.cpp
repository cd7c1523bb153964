// SPDX-License-Identifier: MIT
#include "core/worker/detail/trainer_state.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/assert.hpp"
#include "core/base/log.hpp"
#include "core/worker/packet.hpp"

namespace waggle::worker {
namespace {

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

// "0000:65:00.0": it ends in notices and in the names of files, so nothing else is taken for one.
bool is_pci_address(std::string_view text) noexcept {
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  constexpr std::string_view kHex = "0123456789abcdef";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kShape[i] == 'x' ? kHex.find(text[i]) == kHex.npos : text[i] != kShape[i]) return false;
  return true;
}

std::string too_small(GpuShortage const& shortage, std::string_view detail) {
  auto const least = cat("the model's weights and gradients alone take ",
                         (shortage.least + 1023) >> 10,
                         " KiB: ",
                         detail);
  if (shortage.limit == 0) return cat("the GPU's memory is too small, ", least);
  return cat("max_gpu_memory, ",
             shortage.limit >> 20,
             " MiB, is too small; set more, or 0 for no limit; ",
             least);
}

}  // namespace

Co<Result<Message>> TrainerProcess::State::exchange(Message question,
                                                    std::vector<int> descriptors,
                                                    TimePoint deadline) {
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
  bury(child);
  log::warning("worker", trouble);
  // Nonsense is as good as a death; only our own deadline and scope are different.
  if (error.code != Errc::timeout && error.code != Errc::cancelled) error.code = Errc::closed;
  co_return error;
}

Co<Status> TrainerProcess::State::launch(TimePoint deadline) {
  ChildOptions child_options{options.executable, options.threads, options.priority};
  auto spawned = Child::spawn(runtime, child_options);
  if (!spawned) co_return std::move(spawned).error();
  child = std::move(*spawned);
  if (paused) child->pause();
  Start start;
  start.config_json = options.config_json;
  start.seed = options.seed;
  start.init_seed = options.init_seed;
  start.threads = options.threads;
  start.memory_limit = options.memory_limit;
  start.gpu_memory_limit = options.gpu_memory_limit;
  start.gpu = gpu;
  start.sandbox = options.sandbox;
  start.train_files = static_cast<std::uint32_t>(options.train_files.size());
  std::vector<int> descriptors;
  for (auto const& file : files) descriptors.push_back(file.get());
  Message question = std::move(start);
  auto answer = co_await ask_once(std::move(question), std::move(descriptors), deadline);
  auto told = expect<Facts>(std::move(answer));
  if (!told) co_return std::move(told).error();
  if (!is_pci_address(told->gpu)) told->gpu.clear();
  if (have_buffers && (told->parameters != facts.parameters || told->extras != facts.extras ||
                       told->statistics != facts.statistics))
    co_return Error{Errc::invalid, "the trainer came back with another model"};
  bool const first = !have_buffers;
  // The reason why it was lost tells more than that it was not to be used.
  if (gpu || gpu_trouble.empty()) gpu_trouble = told->gpu_trouble;
  if (gpu) gpu_shortage.reset();
  if (!first) {
    facts.device = std::move(told->device);
    facts.gpu = std::move(told->gpu);
    facts.gpu_trouble = gpu_trouble;
  }
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
  bool const too_large = !done && done.error().code == Errc::too_large;
  if (too_large && on_gpu() && done.error().detail != kHostMemory) {
    auto why = done.error().detail;
    co_return co_await lose_full_gpu(std::move(why));
  }
  if (!done) co_return std::move(done).error();
  have_buffers = true;
  co_return ok();
}

Status TrainerProcess::State::make_buffers() {
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

Co<Result<Message>> TrainerProcess::State::ask_once(Message question,
                                                    std::vector<int> descriptors,
                                                    TimePoint deadline) {
  auto answer = co_await exchange(std::move(question), std::move(descriptors), deadline);
  if (!answer) co_return answer;
  auto const* const failure = std::get_if<Failed>(&*answer);
  if (failure == nullptr) co_return answer;
  if (failure->kind != Failed::Kind::gpu) co_return to_error(*failure);
  auto why = failure->text;
  co_return co_await lose_gpu(std::move(why));
}

Co<Error> TrainerProcess::State::lose_gpu(std::string why) {
  gpu_shortage.reset();
  trouble = cat("the GPU was lost: ", why);
  co_return co_await end_on_gpu(std::move(why));
}

Co<Error> TrainerProcess::State::lose_full_gpu(std::string why) {
  auto const values = 2 * facts.parameter_values() + facts.extra_values();
  gpu_shortage = GpuShortage{options.gpu_memory_limit, values * sizeof(float)};
  trouble = too_small(*gpu_shortage, why);
  auto words = trouble;
  co_return co_await end_on_gpu(std::move(words));
}

Co<void> TrainerProcess::State::leave_full_gpu(std::string why) {
  begin_call();
  // begin_call() itself ends a process that was told another limit.
  if (child) {
    (void)co_await lose_full_gpu(std::move(why));
    let_go = true;
  }
  micro_batch = std::max(facts.micro_batch, 1u);
  end_call();
}

Co<Error> TrainerProcess::State::end_on_gpu(std::string why) {
  // A process that met such an error meets it again with everything that it asks of the driver.
  child->kill();
  (void)co_await child->reap(Duration{});
  bury(child);
  gpu = false;
  gpu_trouble = std::move(why);
  log::warning("worker", trouble);
  co_return Error{Errc::closed, trouble};
}

void TrainerProcess::State::begin_call() {
  WAGGLE_ASSERT(!busy, "two calls on one trainer");
  busy = true;
  runtime.cancel(idle_timer);
  if (!std::exchange(outdated, false)) return;
  let_go = let_go || child != nullptr;
  retire();
}

void TrainerProcess::State::end_call() {
  busy = false;
  arm_idle_timer();
}

void TrainerProcess::State::arm_idle_timer() {
  if (options.idle_limit == Duration{}) return;
  idle_timer = runtime.call_at(runtime.now() + options.idle_limit, [this] {
    // All it knows stands in the buffers, which are ours.
    let_go = child != nullptr;
    retire();
  });
}

void TrainerProcess::State::bury(std::unique_ptr<Child>& process) {
  if (process) cpu_ended += process->cpu_time();
  process.reset();
}

void TrainerProcess::State::retire() {
  if (!child) return;
  child->kill();
  leaving = std::move(child);
  bury_later();
}

void TrainerProcess::State::bury_later() {
  leaving_timer = runtime.call_at(runtime.now() + std::chrono::milliseconds(5), [this] {
    if (!leaving) return;
    if (leaving->gone())
      bury(leaving);
    else
      bury_later();
  });
}

Duration TrainerProcess::State::cpu_time() const noexcept {
  auto total = cpu_ended;
  for (auto const* process : {&child, &leaving})
    if (*process) total += (*process)->cpu_time();
  return total;
}

Duration TrainerProcess::State::cpu_used() noexcept {
  auto const total = cpu_time();
  // Of one thread, so that all of them at work are full use.
  cpu_paced += std::max(total - cpu_looked, Duration{}) / std::max(options.threads, 1u);
  cpu_looked = total;
  return cpu_paced;
}

Duration TrainerProcess::State::taken(std::uint64_t nanoseconds) const noexcept {
  auto const most = std::max(runtime.now() - asked, Duration{});
  auto const count = std::min(nanoseconds, static_cast<std::uint64_t>(most.count()));
  return Duration(static_cast<std::int64_t>(count));
}

Result<Evaluation> TrainerProcess::State::to_evaluation(Result<Message> answer) {
  WAGGLE_TRY(auto const done, expect<Evaluated>(std::move(answer)));
  gpu_time += taken(done.gpu_nanoseconds);
  return Evaluation{done.samples, done.loss, done.accuracy};
}

Co<Status> TrainerProcess::State::ensure(TimePoint deadline) {
  // A GPU's memory may be too small for two.
  runtime.cancel(leaving_timer);
  if (leaving) (void)co_await leaving->reap(Duration{});
  bury(leaving);
  for (int attempt = 1; !child; ++attempt) {
    if (have_buffers && !std::exchange(let_go, false)) ++restarts;
    auto launched = co_await launch(deadline);
    if (launched) break;
    if (child) {
      child->kill();
      (void)co_await child->reap(Duration{});
      bury(child);
    }
    if (launched.error().code != Errc::closed || attempt >= kMaxAttempts) co_return launched;
  }
  co_return ok();
}

Co<Result<Message>> TrainerProcess::State::call(Message question,
                                                std::vector<int> descriptors,
                                                unsigned torn,
                                                TimePoint deadline) {
  begin_call();
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
    asked = runtime.now();
    result = co_await ask_once(std::move(copy), std::move(fds), deadline);
    if (result) break;
    restore(torn);
    if (result.error().code != Errc::closed) break;
    ++deaths;
  }
  end_call();
  co_return result;
}

Co<Result<Message>> TrainerProcess::State::call(Message question,
                                                unsigned torn,
                                                TimePoint deadline) {
  return call(std::move(question), std::vector<int>(), torn, deadline);
}

Co<Result<bool>> TrainerProcess::State::wait_for_duty(TimePoint deadline) {
  auto const now = runtime.now();
  auto const latest = deadline == kNoDeadline ? deadline : now + (deadline - now) / 2;
  auto due = std::max(cpu_pacer.due(cpu_used(), now), gpu_pacer.due(gpu_time, now));
  rest_ended = false;
  runtime.cancel(idle_timer);
  Status waited = ok();
  while (waited && !rest_ended && std::min(due, latest) > runtime.now()) {
    waited = co_await rest.wait(std::min(due, latest));
    if (!waited && waited.error().code == Errc::timeout) waited = ok();
    // Not due() again: that is for work that was done.
    due = std::max(cpu_pacer.rest_until(), gpu_pacer.rest_until());
  }
  if (waited && !rest_ended) co_return true;
  arm_idle_timer();
  if (!waited) co_return std::move(waited).error();
  co_return false;
}

}  // namespace waggle::worker
