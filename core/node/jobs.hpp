// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/node/guest/guest.hpp"
#include "core/node/node.hpp"
#include "core/node/services.hpp"
#include "core/node/session/session.hpp"
#include "core/node/tasks/joined_tasks.hpp"
#include "core/node/tasks/known_tasks.hpp"
#include "core/node/tasks/wanted_task.hpp"

namespace waggle::node {

/// Runs what the process was started for, and trains what a person joins meanwhile: one task at a
/// time, the others wait. A process that was started for a task ends with it, unless another was
/// joined since; then, as one that serves, it goes on until told to leave. Thread: the network
/// thread.
class JobRunner {
 public:
  /// What becomes of a command: it is carried out; the session that is about to begin hears it
  /// first; or no task of that name trains, or is about to.
  enum class Heard : std::uint8_t { obeyed, later, nobody };

  JobRunner(Services& services, EventSink events);
  ~JobRunner();

  /// Says who we are and where we listen.
  void announce_start();
  /// `begun` is called once commands are obeyed.
  [[nodiscard]] Co<Outcome> run(Job job, std::function<void()> begun);
  [[nodiscard]] Co<void> close();

  [[nodiscard]] Heard command(Command const& command);
  /// waggle.toml was changed by a command; `followed` is called once what it says holds.
  void settings_changed(std::function<void()> followed);
  /// Finish the round if one runs, then end.
  void leave();
  /// Somebody reads what there is, now: it is kept newer than else for a while.
  void looked_at();
  /// Told to leave, and no session has anything to finish: the job may be cancelled.
  [[nodiscard]] bool may_stop() const noexcept;

  /// The one that trains, the one that is looked for, those that wait.
  [[nodiscard]] std::vector<TaskView> tasks() const;
  [[nodiscard]] std::vector<KnownTaskView> known_tasks();
  /// Of the task that trains, with the previews of those looked at; null if there are none.
  /// want_examples() has some made.
  [[nodiscard]] std::shared_ptr<Examples const> examples();
  void want_examples();

  /// Null while nothing has been begun, and for a job that only looks.
  [[nodiscard]] Guest const* guest() const noexcept { return guest_.get(); }

 private:
  [[nodiscard]] Co<Outcome> train(TrainJob job);
  [[nodiscard]] Co<Outcome> publish(PublishJob job);
  [[nodiscard]] Co<Outcome> monitor(MonitorJob job);
  /// Trains what is joined, one after the other, until told to leave.
  [[nodiscard]] Co<Outcome> serve();
  /// Until it is done, or makes way.
  [[nodiscard]] Co<Outcome> train_found(FoundTask found, SessionOptions options);
  [[nodiscard]] TimePoint next_look(bool makes_way) const;
  [[nodiscard]] Co<void> run_session(std::optional<Status>& done);
  [[nodiscard]] Co<void> forget(TaskKey key);

  void join(std::string const& link);
  [[nodiscard]] Co<void> take_up(FoundTask task);
  void switch_to(FoundTask found);
  void leave_task(Command const& command);
  [[nodiscard]] Heard tell_session(Command const& command);
  [[nodiscard]] bool trains(TaskKey const& key) const;
  void obey_guest();
  void tell_guest();

  Services& services_;
  EventSink events_;
  JoinedTasks joined_;
  std::unique_ptr<KnownTasks> known_;
  std::unique_ptr<Session> session_;
  std::optional<TaskKey> session_key_;
  std::unique_ptr<WantedTask> wanted_;
  std::optional<FoundTask> next_;       ///< to train once the session has made way
  std::optional<TaskKey> to_forget_;    ///< once the session has ended
  bool session_comes_ = false;          ///< the first one, without anybody asking for it
  std::optional<Command> for_session_;  ///< the last pause, resume or finish before there is one
  std::unique_ptr<Guest> guest_;
  Signal changed_;
  bool leaving_ = false;
  Scope scope_;
};

}  // namespace waggle::node
