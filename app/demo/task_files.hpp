// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "core/base/result.hpp"
#include "core/task/definition.hpp"

namespace waggle::app::demo {

/// A task as an operator would have it.
struct TaskFiles {
  std::filesystem::path toml;
  std::filesystem::path data;  ///< the folder of its data files
};

/// The embedded task, read. Errors: those of Definition::parse().
[[nodiscard]] Result<task::Definition> demo_task(bool text);

/// Writes the embedded task file into `folder`, and for text its book. Errors: not_found (a package
/// of ./bootstrap deps is missing), io.
[[nodiscard]] Result<TaskFiles> lay_out_task(bool text, std::filesystem::path const& folder);

}  // namespace waggle::app::demo
