// SPDX-License-Identifier: MIT
#include "core/node/jobs.hpp"

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/events.hpp"
#include "core/node/monitor.hpp"
#include "core/node/publisher.hpp"
#include "core/node/task_files.hpp"

namespace waggle::node {

JobRunner::JobRunner(Services& services, EventSink events)
    : services_(services),
      events_(std::move(events)),
      leave_asked_(services.runtime()),
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

Co<Outcome> JobRunner::run(Job job) {
  if (!std::holds_alternative<MonitorJob>(job))
    guest_ = std::make_unique<Guest>(services_, [this] { obey_guest(); });
  if (auto* const train_job = std::get_if<TrainJob>(&job))
    co_return co_await train(std::move(*train_job));
  if (auto* const publish_job = std::get_if<PublishJob>(&job))
    co_return co_await publish(std::move(*publish_job));
  if (auto* const monitor_job = std::get_if<MonitorJob>(&job))
    co_return co_await monitor(std::move(*monitor_job));
  co_return co_await serve();
}

Co<Outcome> JobRunner::train(TrainJob job) {
  auto link = task::Link::parse(job.link);
  if (!link) co_return Outcome{std::move(link).error(), {}};
  services_.add_peers(link->peers);
  scope_.spawn("keep tasks", keep_joined_tasks());
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
  SessionOptions const options{job.until_epoch, job.until_accuracy};
  co_return co_await train_found(std::get<FoundTask>(*std::move(found)), options);
}

Co<Outcome> JobRunner::train_found(FoundTask found, SessionOptions options) {
  session_ = std::make_unique<Session>(services_, std::move(found), options, events_);
  obey_guest();
  if (leaving_) session_->leave();
  auto done = co_await session_->run();
  if (!done) co_return Outcome{std::move(done).error(), {}};
  co_return Outcome{};
}

Co<Outcome> JobRunner::publish(PublishJob job) {
  bool const train_too = job.train;
  bool const end = job.end;
  auto published = co_await publish_task(services_, std::move(job), events_);
  if (!published) co_return Outcome{std::move(published).error(), {}};
  if (train_too && !end) co_return co_await train_found(*std::move(published), SessionOptions{});
  co_return co_await serve();
}

Co<Outcome> JobRunner::serve() {
  scope_.spawn("keep tasks", keep_joined_tasks());
  while (!leaving_) {
    auto const woken = co_await leave_asked_.wait();
    if (!woken) co_return Outcome{woken.error(), {}};
  }
  co_return Outcome{};
}

Co<Outcome> JobRunner::monitor(MonitorJob job) {
  auto watched = co_await watch_swarm(services_, std::move(job), events_, leaving_);
  if (!watched && !leaving_) co_return Outcome{std::move(watched).error(), {}};
  co_return Outcome{};
}

Co<void> JobRunner::keep_joined_tasks() {
  auto read = [&store = services_.store()] { return store.tasks(); };
  auto const tasks = co_await on(services_.disk(), services_.runtime(), std::move(read));
  if (!tasks) {
    log::warning("store", tasks.error().detail);
    co_return;
  }
  for (auto const& known : *tasks) {
    auto const operator_id = PeerId::from_bytes(known.operator_id);
    if (!known.joined || !operator_id) continue;
    auto record = task::TaskRecord::open(known.envelope, *operator_id, known.prefix);
    if (!record) continue;
    serve_files_of(services_, *record);
    services_.directory().keep_alive(*std::move(record), known.envelope, false);
  }
}

void JobRunner::obey_guest() {
  if (session_ && guest_) session_->obey(guest_->verdict().reason, guest_->duty());
}

Co<void> JobRunner::close() {
  if (guest_) co_await guest_->close();
  if (session_) co_await session_->close();
  co_await scope_.close();
}

void JobRunner::command(Command const& command) {
  if (command.kind == Command::Kind::stop) return leave();
  if (!session_) return;
  if (!command.prefix.empty() && session_->view().prefix != command.prefix) return;
  switch (command.kind) {
    case Command::Kind::pause:
      session_->pause();
      if (guest_) guest_->person_rests();
      return;
    case Command::Kind::resume:
      // The rules first: that it goes on is said once.
      if (guest_) guest_->person_runs();
      return session_->resume();
    case Command::Kind::finish:
      return session_->finish(command.at_epoch);
    case Command::Kind::measure:
      return session_->measure();
    case Command::Kind::set:
    case Command::Kind::join:
    case Command::Kind::leave:
    case Command::Kind::stop:
      return;
  }
}

void JobRunner::leave() {
  leaving_ = true;
  if (session_) session_->leave();
  leave_asked_.notify_all();
}

bool JobRunner::may_stop() const noexcept {
  return leaving_ && !(session_ && session_->training());
}

std::vector<TaskView> JobRunner::tasks() const {
  if (!session_) return {};
  return {session_->view()};
}

}  // namespace waggle::node
