// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/node/services.hpp"
#include "core/task/record.hpp"

namespace waggle::node {

/// The blob that holds a task's initial weights, as safetensors.
inline constexpr std::string_view kWeightsBlob = "weights.safetensors";

/// The blob that holds what a task shows of its data before somebody joins, as Preview's JSON.
inline constexpr std::string_view kPreviewBlob = "preview.json";

/// Fetches every blob that a task names; local paths by the blob's name. Errors as
/// BlobService::fetch.
[[nodiscard]] Co<Result<std::map<std::string, std::filesystem::path>>> fetch_files(
    Services& services,
    task::TaskRecord record,
    std::function<void(blob::FetchProgress const&)> progress,
    TimePoint deadline);

/// Serves and advertises the blobs of this task beside those that are served already.
void serve_files_of(Services& services, task::TaskRecord const& record);

}  // namespace waggle::node
