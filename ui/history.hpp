// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/node/snapshot.hpp"

#include "ui/text.hpp"

namespace waggle::ui {

/// A figure over time, oldest first, never longer than its capacity: what is older is forgotten.
class Ring {
 public:
  explicit Ring(std::size_t capacity) : capacity_(capacity) {}

  void add(double x, double y);

  [[nodiscard]] std::vector<double> const& x() const { return x_; }

  [[nodiscard]] std::vector<double> const& y() const { return y_; }

  [[nodiscard]] bool empty() const { return x_.empty(); }

  [[nodiscard]] std::optional<double> last() const;

 private:
  std::size_t capacity_;
  std::vector<double> x_;
  std::vector<double> y_;
};

/// One line of what happened, with its values apart from its words, so that the language may
/// change.
struct LogLine {
  enum class Level : std::uint8_t { info, good, warning };
  double time = 0;  ///< Unix time of the last occurrence
  Level level = Level::info;
  std::optional<Text> key;  ///< unset: `values` holds the node's own words
  std::vector<std::string> values;
  std::size_t times = 1;  ///< repeated lines are folded into one

  [[nodiscard]] std::string text(Language language) const;
};

/// What a task's figures were, epoch by epoch.
struct TaskCurves {
  Ring loss;
  Ring swarm_loss;  ///< as the peers claim
  Ring test_loss;
  Ring accuracy;
  TaskCurves();
};

/// Figures over time and events, made from successive snapshots of one node. Pure: no clock, no
/// files. A snapshot that is not newer than the last one is ignored; one of another process begins
/// anew but for the log. Memory: bounded by the constants below.
class History {
 public:
  static constexpr std::size_t kSeconds = 3600;  ///< one point a second: an hour
  static constexpr std::size_t kEpochs = 4000;
  static constexpr std::size_t kLines = 1000;
  static constexpr std::size_t kTasks = 16;
  static constexpr std::size_t kGraphics = 8;
  static constexpr double kMinGap = 0.9;  ///< seconds between two points

  History();

  void add(node::Snapshot const& snapshot);
  /// The node stopped answering: one line in the log.
  void lost(double unix_time);

  /// Over Unix time.
  [[nodiscard]] Ring const& own_speed() const { return own_speed_; }

  [[nodiscard]] Ring const& swarm_speed() const { return swarm_speed_; }

  [[nodiscard]] Ring const& download() const { return download_; }  ///< bytes a second

  [[nodiscard]] Ring const& upload() const { return upload_; }

  /// Shares of the machine, 0 to 1, over Unix time.
  [[nodiscard]] Ring const& processor() const { return processor_; }

  [[nodiscard]] Ring const& others() const { return others_; }  ///< programs that are not Waggle

  [[nodiscard]] Ring const& memory() const { return memory_; }

  /// Null: no such graphics processor told how busy it is.
  [[nodiscard]] Ring const* graphics(std::size_t index) const;

  /// Over epochs; null for a task not seen.
  [[nodiscard]] TaskCurves const* curves(node::TaskView const& task) const;

  /// Newest last.
  [[nodiscard]] std::deque<LogLine> const& lines() const { return lines_; }

 private:
  void line(double time, LogLine::Level level, Text key, std::vector<std::string> values);
  void push(LogLine line);
  void add_rates(node::Snapshot const& snapshot);
  void add_machine(node::Snapshot const& snapshot);
  void add_task(node::Snapshot const& snapshot, node::TaskView const& task);
  void add_peers(node::Snapshot const& snapshot);
  void begin(node::Snapshot const& snapshot);

  struct Last {
    std::string state;
    std::int64_t epoch = -1;
    std::int64_t round = -1;
    std::optional<double> accuracy;
    std::set<std::string> ignored;
  };

  Ring own_speed_;
  Ring swarm_speed_;
  Ring download_;
  Ring upload_;
  Ring processor_;
  Ring others_;
  Ring memory_;
  std::vector<Ring> graphics_;
  std::map<std::string, TaskCurves> tasks_;  // by operator and prefix
  std::deque<LogLine> lines_;

  std::optional<std::int64_t> pid_;
  double time_ = 0;
  double rates_at_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
  bool gone_ = false;
  std::set<std::string> peers_;
  std::set<std::string> notices_;
  std::map<std::string, Last> last_;
};

}  // namespace waggle::ui
