// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/node/guest.hpp"
#include "core/node/node.hpp"
#include "core/node/services.hpp"
#include "core/node/session.hpp"

namespace waggle::node {

/// Runs what the process was started for, and passes commands to the session it holds. Thread: the
/// network thread.
class JobRunner {
 public:
  JobRunner(Services& services, EventSink events);
  ~JobRunner();

  /// Says who we are and where we listen.
  void announce_start();
  [[nodiscard]] Co<Outcome> run(Job job);
  [[nodiscard]] Co<void> close();

  void command(Command const& command);
  /// Finish the round if one runs, then end.
  void leave();
  /// Told to leave, and no session has anything to finish: the job may be cancelled.
  [[nodiscard]] bool may_stop() const noexcept;

  [[nodiscard]] std::vector<TaskView> tasks() const;

  /// Null while nothing has been begun, and for a job that only looks.
  [[nodiscard]] Guest const* guest() const noexcept { return guest_.get(); }

 private:
  [[nodiscard]] Co<Outcome> train(TrainJob job);
  [[nodiscard]] Co<Outcome> publish(PublishJob job);
  [[nodiscard]] Co<Outcome> serve();
  [[nodiscard]] Co<Outcome> monitor(MonitorJob job);
  [[nodiscard]] Co<Outcome> train_found(FoundTask found, SessionOptions options);
  void obey_guest();
  /// Records and blobs of tasks joined before, so that they live on.
  [[nodiscard]] Co<void> keep_joined_tasks();

  Services& services_;
  EventSink events_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Guest> guest_;
  Signal leave_asked_;
  bool leaving_ = false;
  Scope scope_;
};

}  // namespace waggle::node
