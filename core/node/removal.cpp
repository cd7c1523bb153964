// SPDX-License-Identifier: MIT
#include "core/node/removal.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "core/base/text.hpp"
#include "core/store/store.hpp"

namespace waggle::node {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOurs = {
    "api.sock",
    "api.token",
    "blobs",
    "checkpoints",
    "identity.key",
    "lock",
    "logs",
    "operator",
    "machines.toml",
    "paired.toml",
    "record.key",
    "watch.key",
};
/// And what begins so: the database with its journal, the settings with their copies, the log.
constexpr std::array kOurStems = {"waggle.", "window."};

bool is_ours(std::string_view name) {
  return std::ranges::find(kOurs, name) != kOurs.end() ||
         std::ranges::any_of(kOurStems, [&](char const* stem) { return name.starts_with(stem); });
}

std::uint64_t size_of(fs::directory_entry const& entry) {
  std::error_code ignored;
  if (entry.is_symlink(ignored)) return 0;
  if (entry.is_regular_file(ignored)) return entry.file_size(ignored);
  std::uint64_t bytes = 0;
  if (entry.is_directory(ignored))
    for (fs::recursive_directory_iterator at(entry.path(), ignored), end; at != end;
         at.increment(ignored)) {
      if (ignored) break;
      if (!at->is_symlink(ignored) && at->is_regular_file(ignored)) bytes += at->file_size(ignored);
    }
  return bytes;
}

}  // namespace

Result<std::vector<DataEntry>> list_data(fs::path const& data_dir) {
  std::error_code error;
  std::vector<DataEntry> out;
  for (fs::directory_iterator at(data_dir, error), end; !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    bool const ours = is_ours(name);
    out.push_back({std::move(name), size_of(*at), ours});
  }
  if (error == std::errc::no_such_file_or_directory)
    return Error{Errc::not_found, cat(data_dir.string(), " is not there")};
  if (error) return Error{Errc::io, cat(data_dir.string(), ": ", error.message())};
  std::ranges::sort(out, {}, &DataEntry::name);
  return out;
}

Result<std::vector<DataEntry>> delete_data(fs::path const& data_dir) {
  WAGGLE_TRY(auto const before, list_data(data_dir));
  // A path that a person mistyped holds no identity.
  if (std::ranges::none_of(before, [](auto const& e) { return e.name == "identity.key"; }))
    return Error{Errc::refused, cat(data_dir.string(), " is no data directory of Waggle")};
  WAGGLE_TRY(auto const lock, store::DirectoryLock::take(data_dir));
  WAGGLE_TRY(auto const entries, list_data(data_dir));  // the lock's own file, too
  for (auto const& entry : entries) {
    if (!entry.ours) continue;
    std::error_code error;
    fs::remove_all(data_dir / entry.name, error);
    if (error) return Error{Errc::io, cat((data_dir / entry.name).string(), ": ", error.message())};
  }
  std::error_code error;
  fs::remove(data_dir, error);  // only where it became empty
  auto left = list_data(data_dir);
  if (!left && left.error().code == Errc::not_found) return std::vector<DataEntry>();
  return left;
}

}  // namespace waggle::node
