// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/node/commands.hpp"
#include "core/node/examples.hpp"
#include "core/node/options.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// Train a task until told otherwise.
struct TrainJob {
  std::string link;                      ///< a link or a bare prefix
  std::int64_t until_epoch = 0;          ///< 0: no end
  std::optional<double> until_accuracy;  ///< on the test set; needs a task that has one
};

/// Publish a task file, keep it alive, and train it too if `train`.
struct PublishJob {
  std::filesystem::path toml;
  std::filesystem::path files;  ///< the folder of its data files; empty: the task file's own
  bool train = false;
  bool listed = false;                    ///< in the public directory
  bool force = false;                     ///< although someone else's run is live under the prefix
  bool end = false;                       ///< publish its end instead
  std::string operator_name = "default";  ///< the key operator/NAME.key, made if missing
};

/// Help the swarm: a DHT peer that also keeps joined tasks alive.
struct ServeJob {};

/// Print the state of a prefix' swarm from the DHT every `period`, `count` times (0: until
/// stopped).
struct MonitorJob {
  std::string prefix;
  std::chrono::duration<double> period{2};
  std::size_t count = 0;
};

using Job = std::variant<TrainJob, PublishJob, ServeJob, MonitorJob>;

/// How a job ended.
struct Outcome {
  std::optional<Error> error;        ///< unset: well
  std::vector<std::string> choices;  ///< operators of an ambiguous prefix: a person must choose
};

/// A running Waggle: owns the threads, the data directory and everything under it. One job a
/// process. Thread: every function may be called from any thread; events come on the network
/// thread.
class Node {
 public:
  /// Errors: refused (the data directory is in use), io, malformed (a key file), invalid.
  [[nodiscard]] static Result<std::unique_ptr<Node>> start(Options options,
                                                           Job job,
                                                           EventSink events);
  /// Leaves in seconds: as leave(), then waits.
  ~Node();

  /// Returns at the job's end.
  [[nodiscard]] Outcome wait();
  /// Unset until then.
  [[nodiscard]] std::optional<Outcome> outcome() const;
  /// Finish the round if one runs, hand over, save, end. Idempotent; wait() tells when it is done.
  void leave();

  /// As Snapshots::fresh(): waits for the network thread to make one.
  [[nodiscard]] std::shared_ptr<Snapshot const> snapshot() const;
  /// The newest example predictions of the task that trains; null while there are none. Whoever
  /// asks has new ones made for the next minute.
  [[nodiscard]] std::shared_ptr<Examples const> examples();
  /// Returns once it is carried out and kept, or after two seconds of a busy disk, or of a node
  /// that starts or ends: how far it has come then. What goes wrong later is a notice.
  [[nodiscard]] Result<Taken> send(Command command);

 private:
  struct State;
  explicit Node(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace waggle::node
