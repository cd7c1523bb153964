// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/demo/child.hpp"

namespace waggle::app::demo {

/// What the demo knows of one of its processes, learnt from the events that it printed.
struct Volunteer {
  std::string name;  ///< "peer 2"
  std::filesystem::path data_dir;
  Child process;
  bool killed = false;
  bool late = false;

  std::string peer_id;
  std::string link;  ///< the publisher's
  std::string state = "starting";
  std::int64_t epoch = 0;
  double samples_per_second = 0;
  std::uint64_t samples_given = 0;
  double credits = 0;
  std::optional<double> loss;
  std::size_t group = 0;
  std::uint64_t socket_bytes = 0;
  // Sums over rounds, for the wire ratios.
  std::uint64_t gradient_bytes = 0;
  std::uint64_t gradient_values = 0;
  std::uint64_t state_bytes = 0;
  std::uint64_t state_values = 0;
  std::uint64_t rounds_averaged = 0;
  std::uint64_t rounds_local = 0;
  std::vector<double> epoch_times;  ///< Unix seconds at which each epoch began
  std::string last_error;

  // From the end: its own evaluation on the whole test set.
  std::optional<double> accuracy;
  std::optional<double> test_loss;
  std::uint64_t evaluated_on = 0;
  // On the way: accuracy, or for text the loss.
  std::optional<double> sample_figure;  ///< on a fixed sample of the held-out data
  std::optional<double> whole_figure;   ///< on all of it, when asked
  std::int64_t measured_at = 0;         ///< the epoch of the latest of the two

  /// Takes what the process printed since the last call.
  void listen();
};

}  // namespace waggle::app::demo
