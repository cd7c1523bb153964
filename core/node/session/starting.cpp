// SPDX-License-Identifier: MIT
// A session's trainer until it has a state to train from: started, tried again, given up.
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/node/session/checkpoint.hpp"
#include "core/node/session/detail/state.hpp"
#include "core/node/tasks/files.hpp"

namespace waggle::node {
namespace {

constexpr Duration kTrainerStart = std::chrono::minutes(5);
// Before the second try to start a trainer; the n-th waits n times as long.
constexpr Duration kTrainerPause = std::chrono::seconds(2);

}  // namespace

// The newest checkpoint, or the task's initial weights at epoch 0.
Co<Result<std::int64_t>> Session::State::take_up(
    std::map<std::string, std::filesystem::path> const& files) {
  auto const deadline = runtime().now() + kTrainerStart;
  auto checkpoint =
      co_await load_checkpoint(services, found.record.operator_id, found.record.prefix);
  if (!checkpoint) co_return std::move(checkpoint).error();
  if (*checkpoint) {
    auto restored = co_await trainer->restore(**checkpoint, deadline);
    if (restored) co_return (*checkpoint)->epoch;
    if (restored.error().code == Errc::cancelled) co_return std::move(restored).error();
    services.notice(cat("the saved state of ",
                        definition.prefix,
                        " does not fit (",
                        restored.error().detail,
                        "); beginning anew"));
  }
  auto const weights = files.find(std::string(kWeightsBlob));
  if (weights != files.end()) {
    WAGGLE_CO_TRY_STATUS(co_await trainer->read_weights(weights->second, deadline));
  }
  co_return std::int64_t{0};
}

Co<Status> Session::State::start_trainer(
    std::map<std::string, std::filesystem::path> const& files) {
  enter("starting", "starting the trainer");
  TrainerOptions trainer_options;
  trainer_options.files = files;
  trainer_options.files.erase(std::string(kWeightsBlob));
  trainer_options.threads = effort.threads;
  trainer_options.memory_limit = memory_limit;
  trainer_options.gpu_memory_limit = gpu_memory_limit;
  trainer_options.seed = runtime().random_u64();
  WAGGLE_CO_TRY(
      trainer,
      co_await Trainer::start(
          services, definition, std::move(trainer_options), runtime().now() + kTrainerStart));
  use(effort);
  co_return ok();
}

// Trains on only once a person says so: a machine that starts what cannot run, over and over, is
// no good guest.
void Session::State::give_trainer_up(Error const& why) {
  crashed = crash_reason(why);
  note_failures({CrashGuard::kMost, crashed});
  log::warning("node", definition.prefix, ": ", crashed);
  pause_for_crash();
}

void Session::State::pause_for_crash() {
  view.state = "paused";
  view.reason = crashed;
  view.paused_by = "crash";
  pause_or_train();
  say_paused();
}

// Until a person resumes; false: it is to leave.
Co<Result<bool>> Session::State::stay_given_up() {
  while (!crashed.empty() && !finish_soon) {
    WAGGLE_CO_TRY_STATUS(co_await woken.wait());
  }
  view.paused_by.clear();
  view.reason.clear();
  co_return !finish_soon;
}

Co<void> Session::State::take_up_failures() {
  auto kept = co_await recall_failures(services, tried());
  failures_kept = kept.in_a_row > 0;
  if (failures_forgiven) {
    note_failures({});
    co_return;
  }
  crashed = std::move(kept.given_up);
  if (crashed.empty() && kept.in_a_row < CrashGuard::kMost) guard = CrashGuard(kept.in_a_row);
}

void Session::State::note_failures(Failures failures) {
  bool const none = failures == Failures{};
  if (none && !failures_kept) return;
  failures_kept = !none;
  keep_failures(services, tried(), std::move(failures));
}

void Session::State::begin_failures_anew() {
  failures_forgiven = true;
  crashed.clear();
  guard = CrashGuard();
  if (optimizer) optimizer->set_trainer_losses(0);
  note_failures({});
}

// The trainer with the state to begin with; the epoch of that state. Nothing: it could not be
// started, and is to leave now. Errors: what no second try would mend.
Co<Result<std::optional<std::int64_t>>> Session::State::begin_trainer(
    std::map<std::string, std::filesystem::path> const& files) {
  if (!crashed.empty()) pause_for_crash();
  for (;;) {
    if (!crashed.empty()) {
      WAGGLE_CO_TRY(bool const again, co_await stay_given_up());
      if (!again) co_return std::optional<std::int64_t>();
    }
    auto started = co_await start_trainer(files);
    Result<std::int64_t> epoch = Error{Errc::closed, ""};
    if (started)
      epoch = co_await take_up(files);
    else
      epoch = std::move(started).error();
    if (epoch) co_return std::optional<std::int64_t>(*epoch);
    auto const why = epoch.error();
    if (!CrashGuard::may_pass(why)) co_return why;
    log::warning("node", "the trainer of ", definition.prefix, " failed: ", why.detail);
    if (trainer) co_await trainer->close();
    trainer.reset();
    if (guard.failed()) {
      give_trainer_up(why);
    } else {
      note_failures({guard.failures(), ""});
      auto const pause = kTrainerPause * guard.failures();
      WAGGLE_CO_TRY_STATUS(co_await runtime().sleep_for(pause));
    }
    if (finish_soon) co_return std::optional<std::int64_t>();
  }
}

}  // namespace waggle::node
