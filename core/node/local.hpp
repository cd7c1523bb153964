// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/options.hpp"

/// What can be done with a data directory while no node runs there: no network. Each call takes the
/// directory's lock.
namespace waggle::node {

struct Exported {
  std::string prefix;
  std::int64_t epoch = 0;
  std::uint64_t parameters = 0;
};

/// Writes the newest saved state of a task as safetensors (PyTorch's names). `prefix` empty: the
/// only task there is. Starts a trainer for seconds. Errors: not_found (no task, no saved state),
/// invalid (several tasks: names them), refused (a node runs there), io, closed (the trainer).
[[nodiscard]] Result<Exported> export_weights(Options const& options,
                                              std::string const& prefix,
                                              std::filesystem::path const& target);

/// Forgets a task: record, blobs that no other task names, checkpoints. Returns the bytes freed.
/// Errors: not_found, refused, io.
[[nodiscard]] Result<std::uint64_t> leave_task(Options const& options, std::string const& prefix);

/// Every field of task.toml with its type, default and meaning, for `waggle publish --help-fields`.
[[nodiscard]] std::string task_field_help();

}  // namespace waggle::node
