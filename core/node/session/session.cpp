// SPDX-License-Identifier: MIT
#include "core/node/session/session.hpp"

#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/device/machine.hpp"
#include "core/node/session/detail/state.hpp"
#include "core/node/session/volunteers.hpp"
#include "core/node/tasks/files.hpp"
#include "core/task/link.hpp"

namespace waggle::node {
namespace {

constexpr double kProgressSeconds = 0.5;
// After the last time that a window asked.
constexpr Duration kExamplesWanted = std::chrono::minutes(1);

Result<optim::OptimizerOptions> optimizer_options(task::Definition const& d, bool client_mode) {
  optim::OptimizerOptions options;
  options.run_id = d.prefix;
  options.target_batch_size = static_cast<std::uint64_t>(d.swarm.target_batch_size);
  options.average_state_every = d.swarm.average_state_every;
  options.matchmaking_time = seconds(d.swarm.matchmaking_time);
  options.averaging_timeout = seconds(d.swarm.averaging_timeout);
  options.delayed = d.swarm.delayed;
  options.client_mode = client_mode;
  WAGGLE_TRY(options.compression, compress::Policy::parse(d.swarm.compression));
  WAGGLE_TRY(options.state_compression, compress::Policy::parse(d.swarm.state_compression));
  return options;
}

Status check_needs(task::Definition const& d) {
  auto const memory = device::memory();
  if (!memory) return memory.error();
  auto const need = static_cast<std::uint64_t>(d.needs.memory_mib) << 20;
  if (memory->available >= need) return ok();
  return Error{Errc::refused,
               cat("the task ",
                   d.prefix,
                   " needs ",
                   d.needs.memory_mib,
                   " MiB of memory, this machine has ",
                   memory->available >> 20,
                   " MiB available")};
}

}  // namespace

void Session::State::enter(std::string state, std::string text) {
  view.state = state;
  events(events::state(services, state, text));
}

Co<Result<bool>> Session::State::fetch(std::map<std::string, std::filesystem::path>& files) {
  enter("fetching", cat("fetching ", definition.title));
  std::function<void(blob::FetchProgress const&)> progress = [this](blob::FetchProgress const& p) {
    view.fetch_done = p.done;
    view.fetch_total = p.total;
    if (p.done < p.total && to_seconds(runtime().now() - last_progress) < kProgressSeconds) return;
    last_progress = runtime().now();
    events(events::fetch(services, p.done, p.total, p.providers));
  };
  // Serve from the first chunk on.
  serve_files_of(services, found.record);
  for (;;) {
    auto report = progress;
    auto fetched = co_await fetch_files(services, found.record, std::move(report), kNoDeadline);
    if (fetched) {
      files = *std::move(fetched);
      break;
    }
    if (fetched.error().code != Errc::too_large) co_return std::move(fetched).error();
    // What came stays and is served; whoever owns the disk makes room, or leaves.
    say_disk_full(fetched.error().detail);
    auto const waited = co_await woken.wait(runtime().now() + kRoomEvery);
    if (!waited && waited.error().code == Errc::cancelled) co_return waited.error();
    if (finish_soon) co_return false;
  }
  disk_full.clear();
  view.reason.clear();
  view.paused_by.clear();
  co_return true;
}

// Once for each time that the disk fills up; the numbers on view are the newest.
void Session::State::say_disk_full(std::string why) {
  bool const fresh = disk_full.empty();
  disk_full = std::move(why);
  if (!finish_soon) {
    view.state = "paused";
    name_pause();
  }
  if (!fresh) return;
  events(events::state(services, "paused", cat("paused until there is room: ", disk_full)));
  services.notice(disk_full);
}

// Every pause names its reason; a person's comes first.
void Session::State::name_pause() {
  if (paused_by_user) {
    view.reason = "paused by you";
    view.paused_by = "you";
  } else if (!crashed.empty()) {
    view.reason = crashed;
    view.paused_by = "crash";
  } else if (!disk_full.empty()) {
    view.reason = disk_full;
    view.paused_by = "disk";
  } else {
    view.reason = guest_rests;
    view.paused_by = guest_rests.empty() ? "" : "guest";
  }
}

void Session::State::pause_or_train() {
  bool const pause =
      discards || paused_by_user || !crashed.empty() || !disk_full.empty() || !guest_rests.empty();
  if (optimizer && pause) {
    optimizer->pause();
    trainer->end_rest();
  }
  if (optimizer && !pause) optimizer->resume();
  // While the data still waits for room, only the name of the pause changes.
  if (!optimizer && view.state == "paused" && !disk_full.empty()) name_pause();
  if (!optimizer || view.state == "finishing" || view.state == "done") return;
  view.state = pause ? "paused" : "training";
  name_pause();
}

void Session::State::say_paused() {
  if (view.state != "paused") return;
  std::string text = cat("paused: ", view.reason);
  if (view.paused_by == "you") text = "paused by you; `waggle resume` goes on";
  if (view.paused_by == "guest") text += "; `waggle resume` runs anyway";
  if (view.paused_by == "crash") text += "; `waggle logs` has more, `waggle resume` tries again";
  events(events::state(services, "paused", text));
}

void Session::State::keep_wish(Wish wish) {
  told = wish;
  node::keep_wish(services, found.record.operator_id, found.record.prefix, wish);
}

void Session::State::use(device::Effort wanted) {
  trainer->set_threads(wanted.threads);
  trainer->set_duty(wanted.duty);
  trainer->set_gpu_duty(wanted.gpu_duty);
}

void Session::State::end_untrained() {
  view.state = "done";
  if (finish_wished) keep_wish({});
}

Co<void> Session::State::take_up_wish() {
  auto const wish = co_await recall_wish(services, found.record.operator_id, found.record.prefix);
  if (told) co_return;
  if (wish.kind == Wish::Kind::pause) paused_by_user = true;
  if (wish.kind == Wish::Kind::finish) {
    finish_wished = true;
    finish_at = wish.at_epoch;
    finish_soon = finish_soon || wish.at_epoch == 0;
  }
}

Co<Status> Session::State::run() {
  WAGGLE_CO_TRY(definition,
                task::Definition::parse(found.record.toml, cat("task ", found.record.prefix)));
  WAGGLE_CO_TRY_STATUS(check_needs(definition));
  view.title = definition.title;
  view.target_batch_size = static_cast<std::uint64_t>(definition.swarm.target_batch_size);
  services.directory().keep_alive(found.record, found.envelope, false);
  co_await take_up_wish();
  co_await take_up_failures();
  WAGGLE_CO_TRY_STATUS(co_await remember_task(services, found, true));
  // Of a task that was not noted yet nothing could be kept.
  if (told) keep_wish(*told);
  std::map<std::string, std::filesystem::path> files;
  WAGGLE_CO_TRY(bool const fetched, co_await fetch(files));
  if (!fetched) {
    end_untrained();
    co_return ok();
  }
  WAGGLE_CO_TRY(auto const begun, co_await begin_trainer(files));
  if (!begun) {
    end_untrained();
    co_return ok();
  }
  auto const epoch = *begun;
  WAGGLE_CO_TRY(auto const optimizer_opts,
                optimizer_options(definition, services.options().client_mode));
  optimizer = std::make_unique<optim::CollaborativeOptimizer>(services.swarm(),
                                                              services.dht(),
                                                              services.compute(),
                                                              services.record_key(),
                                                              *trainer,
                                                              optimizer_opts);
  metrics = std::make_unique<optim::SwarmMetrics>(
      services.dht(), services.record_key(), definition.prefix);
  optimizer->on_epoch([this](optim::EpochReport const& report) { epoch_ended(report); });
  optimizer->between_epochs(
      [this](optim::EpochReport const& report) { return measure_and_save(report); });
  optimizer->set_trainer_losses(guard.failures());
  optimizer->on_trainer_losses([this](int losses) { note_failures({losses, ""}); });
  optimizer->on_trainer_given_up([this](Error const& why) { give_trainer_up(why); });
  gpu_noted = options.gpu_joules ? options.gpu_joules() : 0;
  enter("training", "");
  events(events::training(
      services, epoch, trainer->parameter_count(), trainer->facts().training_flops_per_sample));
  view.epoch = epoch;
  pause_or_train();
  say_paused();
  if (finish_soon) optimizer->finish();
  WAGGLE_CO_TRY_STATUS(co_await make_examples(epoch));
  auto const trained = co_await optimizer->run(
      epoch, [this](optim::EpochReport const& report) { return enough(report); });
  if (!trained) co_return trained;
  co_return co_await finish_well();
}

bool Session::State::enough(optim::EpochReport const& report) const {
  if (finish_at > 0 && report.epoch >= finish_at) return true;
  if (options.until_epoch > 0 && report.epoch >= options.until_epoch) return true;
  return target_reached;
}

Co<Status> Session::State::finish_well() {
  enter("finishing",
        makes_way ? "making way for another task"
                  : "finished; measuring on all held-out data and saving");
  co_await optimizer->close();
  Status saved = ok();
  if (!discards) saved = co_await save(view.epoch);
  if (!makes_way) {
    auto measured = co_await trainer->evaluate(/*whole=*/true, runtime().now() + kEvaluationTime);
    if (measured) take_measurement(view.epoch, *measured, Measured::final);
  }
  view.state = "done";
  if (finish_wished) keep_wish({});
  events(events::left(services, view.epoch, given));
  if (!saved) co_return saved;
  co_return ok();
}

Session::Session(Services& services, FoundTask found, SessionOptions options, EventSink events)
    : state_(std::make_unique<State>(services, std::move(found), options, std::move(events))) {
  auto& view = state_->view;
  auto const& record = state_->found.record;
  view.operator_id = crypto::to_text(record.operator_id);
  view.prefix = record.prefix;
  view.link = task::Link{record.prefix, record.operator_id, services.link_addresses()}.text();
  view.state = "starting";
}

Session::~Session() = default;

Co<Status> Session::run() {
  co_return co_await state_->run();
}

Co<void> Session::close() {
  if (state_->metrics) co_await state_->metrics->close();
  if (state_->optimizer) co_await state_->optimizer->close();
  if (state_->trainer) {
    // One that made way in the middle of an epoch, too; at its end it is saved already.
    bool const cut = state_->makes_way && !state_->discards && state_->view.state != "done";
    if (state_->view.epoch > 0 && (cut || state_->view.state == "training")) {
      auto const saved = co_await state_->save(state_->view.epoch);
      if (!saved) log::warning("node", "the state was not saved: ", saved.error().detail);
    }
    co_await state_->trainer->close();
  }
  co_await state_->scope.close();
}

void Session::pause() {
  state_->paused_by_user = true;
  state_->keep_wish({Wish::Kind::pause, 0});
  state_->pause_or_train();
}

void Session::resume() {
  state_->paused_by_user = false;
  state_->begin_failures_anew();
  state_->keep_wish({});
  state_->woken.notify_all();
  state_->pause_or_train();
}

void Session::obey(std::string why_not, device::Effort effort) {
  auto& s = *state_;
  // Only if it is another: setting it begins its measure anew.
  bool const other = effort != s.effort;
  s.effort = effort;
  if (s.trainer && other) s.use(effort);
  s.guest_rests = std::move(why_not);
  auto const before = s.view.state;
  s.pause_or_train();
  if (s.view.state == before) return;
  s.say_paused();
  if (s.view.state == "training") s.events(events::state(s.services, "training", "going on"));
}

void Session::limit_memory(std::uint64_t bytes) {
  state_->memory_limit = bytes;
  if (state_->trainer) state_->trainer->set_memory_limit(bytes);
}

void Session::limit_gpu_memory(std::uint64_t bytes) {
  state_->gpu_memory_limit = bytes;
  if (state_->trainer) state_->trainer->set_gpu_memory_limit(bytes);
}

bool Session::computes() const noexcept {
  auto const& state = state_->view.state;
  return state == "training" || (state == "finishing" && state_->optimizer);
}

bool Session::on_gpu() const noexcept {
  return state_->trainer ? state_->trainer->on_gpu() : false;
}

std::string Session::gpu() const {
  return state_->trainer ? state_->trainer->gpu() : std::string();
}

void Session::finish(std::optional<std::int64_t> at_epoch) {
  state_->finish_wished = true;
  state_->keep_wish({Wish::Kind::finish, at_epoch.value_or(0)});
  if (at_epoch) {
    state_->finish_at = *at_epoch;
    return;
  }
  leave();
}

void Session::leave() {
  state_->finish_soon = true;
  state_->view.state = "finishing";
  state_->view.reason.clear();
  state_->view.paused_by.clear();
  state_->woken.notify_all();
  if (!state_->optimizer) return;
  state_->optimizer->finish();
  state_->trainer->end_rest();
}

void Session::make_way(bool keep) {
  state_->makes_way = true;
  state_->discards = !keep;
  // What is not kept needs no end of an epoch: whoever pauses may go at once.
  if (!keep && state_->optimizer) state_->optimizer->pause();
  leave();
}

void Session::measure() noexcept {
  state_->measure_whole = true;
}

void Session::want_examples() noexcept {
  state_->examples_until = state_->runtime().now() + kExamplesWanted;
}

std::shared_ptr<Examples const> Session::examples() const noexcept {
  return state_->examples;
}

bool Session::training() const noexcept {
  return state_->optimizer != nullptr;
}

TaskView Session::view() const {
  TaskView view = state_->view;
  if (!state_->optimizer) {
    bool const on_the_way = view.state == "fetching" || view.state == "starting";
    if (on_the_way && state_->paused_by_user) {
      view.paused_by = "you";
      view.reason = "paused by you";
    }
    return view;
  }
  auto const status = state_->optimizer->status();
  view.phase = status.phase;
  view.epoch = status.epoch;
  view.swarm_epoch = status.swarm.epoch;
  view.swarm_samples = status.swarm.samples_accumulated;
  view.samples_this_epoch = status.samples_this_epoch;
  view.samples_per_second = status.samples_per_second;
  view.swarm_samples_per_second = status.swarm.samples_per_second;
  view.swarm_peers = status.swarm.peers;
  view.place = status.swarm.place;
  view.eta = std::max(0.0, status.swarm.eta - state_->services.dht().time());
  view.ignored_peers = status.ignored_peers;
  view.volunteers = volunteers(status.peers, state_->services.dht().time());
  if (auto const loss = state_->metrics->loss()) {
    view.swarm_loss = loss->loss;
    view.swarm_loss_peers = loss->peers;
  }
  return view;
}

}  // namespace waggle::node
