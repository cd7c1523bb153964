// SPDX-License-Identifier: MIT
#include "core/node/jobs.hpp"

#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/events.hpp"
#include "core/node/monitor.hpp"
#include "core/node/session/kept_failures.hpp"
#include "core/node/session/wish.hpp"
#include "core/node/tasks/publisher.hpp"

namespace waggle::node {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(200);  // while one task makes way for another
constexpr Duration kWorkLook = std::chrono::seconds(1);     // while one trains: for the guest
// An epoch that lasts longer is not waited for: its samples are lost to the swarm.
constexpr Duration kMakeWay = std::chrono::minutes(2);

}  // namespace

JobRunner::JobRunner(Services& services, EventSink events)
    : services_(services),
      events_([this, tell = std::move(events)](Event const& event) {
        tell(event);
        changed_.notify_all();
      }),
      joined_(services),
      changed_(services.runtime()),
      scope_(services.runtime()) {
}

JobRunner::~JobRunner() {
  services_.on_notice(nullptr);
}

void JobRunner::announce_start() {
  events_(events::started(services_));
  for (auto const& text : services_.notices()) events_(events::notice(services_, text));
  services_.on_notice(
      [this](std::string const& text) { events_(events::notice(services_, text)); });
}

Co<Outcome> JobRunner::run(Job job, std::function<void()> begun) {
  if (auto* const monitor_job = std::get_if<MonitorJob>(&job)) {
    begun();
    co_return co_await monitor(std::move(*monitor_job));
  }
  guest_ = std::make_unique<Guest>(services_, [this] { obey_guest(); });
  co_await joined_.load();
  known_ = std::make_unique<KnownTasks>(services_, joined_);
  wanted_ = std::make_unique<WantedTask>(
      services_, events_, [this](FoundTask task) { return take_up(std::move(task)); });
  auto* const train_job = std::get_if<TrainJob>(&job);
  auto* const publish_job = std::get_if<PublishJob>(&job);
  if (!train_job && !publish_job) next_ = co_await joined_.chosen();
  session_comes_ = train_job || (publish_job && publish_job->train && !publish_job->end);
  begun();
  if (train_job) co_return co_await train(std::move(*train_job));
  if (publish_job) co_return co_await publish(std::move(*publish_job));
  co_return co_await serve();
}

Co<Outcome> JobRunner::train(TrainJob job) {
  auto link = task::Link::parse(job.link);
  if (!link) co_return Outcome{std::move(link).error(), {}};
  services_.add_peers(link->peers);
  events_(events::state(services_, "finding", cat("looking for ", link->prefix)));
  auto found = co_await find_task(services_, *link, kNoDeadline);
  if (!found) co_return Outcome{std::move(found).error(), {}};
  if (auto* const choice = std::get_if<NeedsChoice>(&*found)) {
    Outcome outcome{
        Error{Errc::invalid,
              cat("several operators publish ", link->prefix, "; name one with a link")},
        {}};
    for (auto const& id : choice->operators) outcome.choices.push_back(crypto::to_text(id));
    co_return outcome;
  }
  SessionOptions options;
  options.until_epoch = job.until_epoch;
  options.until_accuracy = job.until_accuracy;
  auto task = std::get<FoundTask>(*std::move(found));
  auto outcome = co_await train_found(std::move(task), std::move(options));
  if (!next_) co_return outcome;
  co_return co_await serve();
}

Co<Outcome> JobRunner::publish(PublishJob job) {
  bool const train_too = job.train;
  bool const end = job.end;
  auto published = co_await publish_task(services_, std::move(job), events_);
  if (!published) co_return Outcome{std::move(published).error(), {}};
  if (train_too && !end) {
    SessionOptions no_end;
    auto found = *std::move(published);
    auto outcome = co_await train_found(std::move(found), std::move(no_end));
    if (!next_) co_return outcome;
  }
  co_return co_await serve();
}

Co<Outcome> JobRunner::monitor(MonitorJob job) {
  auto watched = co_await watch_swarm(services_, std::move(job), events_, leaving_);
  if (!watched && !leaving_) co_return Outcome{std::move(watched).error(), {}};
  co_return Outcome{};
}

Co<Outcome> JobRunner::serve() {
  while (!leaving_) {
    if (next_) {
      auto found = *std::exchange(next_, std::nullopt);
      auto const prefix = found.record.prefix;
      SessionOptions no_end;
      auto const outcome = co_await train_found(std::move(found), std::move(no_end));
      if (outcome.error && outcome.error->code == Errc::cancelled) co_return outcome;
      if (outcome.error) services_.notice(cat(prefix, " stopped: ", outcome.error->detail));
      continue;
    }
    auto const woken = co_await changed_.wait();
    if (!woken) co_return Outcome{woken.error(), {}};
  }
  co_return Outcome{};
}

Co<void> JobRunner::run_session(std::optional<Status>& done) {
  done = co_await session_->run();
  changed_.notify_all();
}

Co<Outcome> JobRunner::train_found(FoundTask found, SessionOptions options) {
  auto const key = key_of(found);
  joined_.note(found);
  known_->refresh();
  options.gpu_joules = [this] { return guest_ ? guest_->gpu_joules() : 0.0; };
  session_ = std::make_unique<Session>(services_, std::move(found), std::move(options), events_);
  session_key_ = key;
  session_comes_ = false;
  obey_guest();
  if (auto const early = std::exchange(for_session_, std::nullopt))
    if (tell_session(*early) == Heard::nobody)
      services_.notice(
          cat("what was asked of ", early->prefix, " is dropped: ", key.second, " trains"));
  if (leaving_) session_->leave();
  std::optional<Status> done;
  Scope running(services_.runtime());
  running.spawn("session", run_session(done));
  std::optional<TimePoint> patience;
  while (!done) {
    tell_guest();
    if ((next_ || to_forget_) && !patience) {
      patience = services_.runtime().now() + kMakeWay;
      session_->make_way(!to_forget_);
    }
    // Nothing is under way that would be lost.
    if (patience && (!session_->training() || services_.runtime().now() > *patience)) break;
    auto const woken = co_await changed_.wait(next_look(patience.has_value()));
    if (!woken && woken.error().code == Errc::cancelled) {
      // The program ends; close() sees to the session.
      co_await running.close();
      co_return Outcome{Error{Errc::cancelled, "stopped"}, {}};
    }
  }
  co_await running.close();
  auto view = session_->view();
  co_await session_->close();
  session_.reset();
  session_key_.reset();
  tell_guest();
  bool const made_way = patience.has_value();
  bool const failed = done && !*done && !made_way;
  if (failed) {
    view.state = "failed";
    view.reason = (*done).error().detail;
  } else if (made_way && view.state == "done") {
    view.state = "waiting";
  }
  joined_.left(key, std::move(view));
  known_->refresh();
  if (to_forget_) {
    auto const forgettable = *to_forget_;
    to_forget_.reset();
    co_await forget(forgettable);
  }
  if (made_way) co_return Outcome{};
  if (failed) co_return Outcome{std::move(*done).error(), {}};
  // Finished because a person said so: the next start does not begin again.
  if (!leaving_) joined_.choose(std::nullopt);
  co_return Outcome{};
}

// What else changes a session's work is an event, or a command.
TimePoint JobRunner::next_look(bool makes_way) const {
  auto const now = services_.runtime().now();
  if (makes_way) return now + kLook;
  return session_->computes() ? now + kWorkLook : kNoDeadline;
}

void JobRunner::join(std::string const& text) {
  auto link = task::Link::parse(text);
  if (!link) return services_.notice(link.error().detail);
  if (!wanted_) return;
  services_.add_peers(link->peers);
  wanted_->want(*std::move(link));
}

Co<void> JobRunner::take_up(FoundTask task) {
  co_await joined_.add(task);
  known_->refresh();
  switch_to(std::move(task));
}

void JobRunner::switch_to(FoundTask found) {
  auto const key = key_of(found);
  joined_.choose(key);
  if (trains(key)) {
    next_.reset();
    return;
  }
  next_ = std::move(found);
  changed_.notify_all();
}

void JobRunner::leave_task(Command const& command) {
  if (known_) known_->forget(command);
  if (wanted_) wanted_->leave(command);
  for (auto const& [key, entry] : joined_.all()) {
    if (!command.names(crypto::to_text(key.first), key.second)) continue;
    if (next_ && key_of(*next_) == key) next_.reset();
    if (session_key_ == key) {
      joined_.choose(std::nullopt);
      to_forget_ = key;
      changed_.notify_all();
    } else {
      scope_.spawn("forget a task", forget(key));
    }
    return;
  }
}

Co<void> JobRunner::forget(TaskKey key) {
  auto const freed = co_await joined_.forget(key);
  if (known_) known_->refresh();
  if (!freed) {
    if (freed.error().code != Errc::cancelled)
      services_.notice(cat(key.second, " could not be forgotten: ", freed.error().detail));
    co_return;
  }
  events_(events::forgotten(services_, key.second, *freed));
}

bool JobRunner::trains(TaskKey const& key) const {
  return session_key_ == key && !to_forget_;
}

void JobRunner::obey_guest() {
  if (!session_ || !guest_) return;
  session_->limit_memory(guest_->memory_limit());
  session_->limit_gpu_memory(guest_->gpu_memory_limit());
  session_->obey(guest_->verdict().reason, guest_->effort());
}

void JobRunner::tell_guest() {
  if (!guest_) return;
  bool const on_gpu = session_ && session_->on_gpu();
  guest_->computes(session_ && session_->computes(), on_gpu, on_gpu ? session_->gpu() : "");
}

Co<void> JobRunner::close() {
  if (guest_) co_await guest_->close();
  if (session_) co_await session_->close();
  if (wanted_) co_await wanted_->close();
  if (known_) co_await known_->close();
  co_await scope_.close();
}

JobRunner::Heard JobRunner::command(Command const& command) {
  using Kind = Command::Kind;
  switch (command.kind) {
    case Kind::join:
      join(command.link);
      return Heard::obeyed;
    case Kind::leave:
      leave_task(command);
      return Heard::obeyed;
    case Kind::look:
      if (auto link = task::Link::parse(command.link); link && known_)
        known_->look(*std::move(link));
      return Heard::obeyed;
    case Kind::browse:
      if (known_) known_->browse();
      return Heard::obeyed;
    case Kind::resume:
      // One that waits for another: switch to it.
      if (command.prefix.empty()) break;
      for (auto const& [key, entry] : joined_.all())
        if (!trains(key) && command.names(crypto::to_text(key.first), key.second)) {
          keep_wish(services_, key.first, key.second, {});
          keep_failures(services_, {.operator_id = key.first, .prefix = key.second}, {});
          switch_to(entry.found);
          return Heard::obeyed;
        }
      break;
    default:
      break;
  }
  if (session_) return tell_session(command);
  bool const comes = session_comes_ || next_;
  if (!comes || command.kind == Kind::measure) return Heard::nobody;
  if (next_) {
    auto const [operator_id, prefix] = key_of(*next_);
    if (!command.names(crypto::to_text(operator_id), prefix)) return Heard::nobody;
  }
  for_session_ = command;
  return Heard::later;
}

JobRunner::Heard JobRunner::tell_session(Command const& command) {
  using Kind = Command::Kind;
  auto const& [operator_id, prefix] = *session_key_;
  if (!command.names(crypto::to_text(operator_id), prefix)) return Heard::nobody;
  switch (command.kind) {
    case Kind::pause:
      session_->pause();
      if (guest_) guest_->person_rests();
      tell_guest();
      break;
    case Kind::resume:
      // The rules first: that it goes on is said once.
      if (guest_) guest_->person_runs();
      session_->resume();
      changed_.notify_all();
      break;
    case Kind::finish:
      session_->finish(command.at_epoch);
      break;
    case Kind::measure:
      session_->measure();
      break;
    default:
      break;
  }
  return Heard::obeyed;
}

void JobRunner::settings_changed(std::function<void()> followed) {
  if (guest_) return guest_->look_at_file(std::move(followed));
  followed();
}

void JobRunner::leave() {
  leaving_ = true;
  if (session_) session_->leave();
  changed_.notify_all();
}

void JobRunner::looked_at() {
  if (guest_) guest_->looked_at();
}

bool JobRunner::may_stop() const noexcept {
  return leaving_ && !(session_ && session_->training());
}

std::vector<TaskView> JobRunner::tasks() const {
  std::vector<TaskView> views;
  if (session_) views.push_back(session_->view());
  if (auto const* const view = wanted_ ? wanted_->view() : nullptr) views.push_back(*view);
  for (auto const& [key, entry] : joined_.all())
    if (session_key_ != key) {
      views.push_back(entry.view);
      if (session_ && next_ && key_of(*next_) == key)
        views.back().reason =
            cat("it trains next, once ", views.front().title, " has finished its epoch");
    }
  return views;
}

std::shared_ptr<Examples const> JobRunner::examples() {
  auto made = session_ ? session_->examples() : nullptr;
  return known_ ? known_->with_previews(std::move(made)) : made;
}

void JobRunner::want_examples() {
  if (session_) session_->want_examples();
}

std::vector<KnownTaskView> JobRunner::known_tasks() {
  return known_ ? known_->views() : std::vector<KnownTaskView>();
}

}  // namespace waggle::node
