// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/device/power_level.hpp"
#include "core/node/commands.hpp"
#include "core/node/examples.hpp"
#include "core/node/services.hpp"
#include "core/node/snapshot.hpp"
#include "core/node/tasks/finder.hpp"

namespace waggle::node {

struct SessionOptions {
  std::int64_t until_epoch = 0;
  std::optional<double> until_accuracy;
  /// What the GPU took while it worked for us, in joules, since the start; unset: nobody measures.
  std::function<double()> gpu_joules;
};

/// One task being trained: fetch what it names, start the trainer, take up the newest checkpoint,
/// train with the swarm, measure now and then, save, leave. Thread: the network thread.
class Session {
 public:
  Session(Services& services, FoundTask found, SessionOptions options, EventSink events);
  ~Session();

  /// Until finished, told to leave, or failed for good. Errors: cancelled, io, invalid (the task
  /// does not fit this machine). A trainer that dies again and again is no error: the task is
  /// paused until a person resumes it.
  [[nodiscard]] Co<Status> run();
  [[nodiscard]] Co<void> close();

  /// What a person says of this task survives a kill and the next start.
  void pause();
  void resume();
  /// Leave after this epoch, or after `at_epoch`.
  void finish(std::optional<std::int64_t> at_epoch);
  /// The program ends: as finish(), but the next start goes on.
  void leave();
  /// Another task is to train here: as leave(), without the last measurement. `keep` false: at
  /// once, and nothing is saved.
  void make_way(bool keep);
  /// What the rules of a good guest say: `why_not` is empty if it may compute, `effort` with how
  /// many threads, and for what share of their time. A person's pause, a trainer that keeps
  /// failing and a full disk come first.
  void obey(std::string why_not, device::Effort effort);
  /// What the trainer's tensors may take, in bytes; 0: no limit.
  void limit_memory(std::uint64_t bytes);
  /// The same of those on a GPU.
  void limit_gpu_memory(std::uint64_t bytes);
  /// Whether it trains now: not fetching, not paused, not over.
  [[nodiscard]] bool computes() const noexcept;
  /// Whether the trainer works on a GPU, now.
  [[nodiscard]] bool on_gpu() const noexcept;
  /// Where that is on the PCI bus; empty: not known.
  [[nodiscard]] std::string gpu() const;
  /// Evaluate on the whole test set after this epoch.
  void measure() noexcept;
  /// Somebody wants to see example predictions: they are made now and then for the next minute.
  void want_examples() noexcept;
  /// The newest; null if none were made.
  [[nodiscard]] std::shared_ptr<Examples const> examples() const noexcept;
  /// Whether there is a round to finish; before that, leaving is just stopping.
  [[nodiscard]] bool training() const noexcept;

  [[nodiscard]] TaskView view() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::node
