// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dht/dht.hpp"
#include "core/task/record.hpp"

namespace waggle::task {

/// Publishes task records to the DHT, finds them, and keeps them alive: any joined peer re-stores
/// them. Thread: the network thread.
class Directory {
 public:
  explicit Directory(dht::Dht& dht);
  ~Directory();
  [[nodiscard]] Co<void> close();

  /// Stores a sealed record at its two places (and in the public directory), now and then again for
  /// as long as this lives.
  void keep_alive(TaskRecord record, Bytes envelope, bool listed);
  void stop_keeping(PeerId const& operator_id, std::string_view prefix);

  /// The highest verified version that the DHT, the connected peers or we ourselves have; an
  /// `ended` one too. Records past their valid_until do not count. Errors: not_found, timeout,
  /// cancelled.
  [[nodiscard]] Co<Result<std::pair<TaskRecord, Bytes>>> find(PeerId operator_id,
                                                              std::string prefix,
                                                              TimePoint deadline);
  /// The operators that claim a prefix, each checked to hold a record that verifies.
  [[nodiscard]] Co<Result<std::vector<PeerId>>> operators(std::string prefix, TimePoint deadline);
  /// (operator, prefix) pairs of the public directory whose records verify.
  [[nodiscard]] Co<Result<std::vector<TaskRecord>>> listed(TimePoint deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle::task
