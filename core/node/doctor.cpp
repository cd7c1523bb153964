// SPDX-License-Identifier: MIT
#include "core/node/doctor.hpp"

#include <cmath>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.hpp"
#include "core/device/machine.hpp"
#include "core/node/api/api.hpp"
#include "core/node/settings/config.hpp"
#include "core/worker/trainer_process.hpp"

namespace waggle::node {
namespace {

namespace fs = std::filesystem;
using Grade = Finding::Grade;

constexpr std::uint64_t kLittleDisk = 5ull << 30;
constexpr std::uint64_t kLittleMemory = 1ull << 30;
constexpr double kHivemindSkew = 3;  // seconds; hivemind peers refuse to join beyond it
constexpr double kWaggleSkew = 600;

std::string mebibytes(std::uint64_t bytes) {
  return cat(bytes >> 20, " MiB");
}

void look_at_directory(Options const& options, std::vector<Finding>& out) {
  std::error_code ec;
  auto const& dir = options.data_dir;
  fs::path nearest = dir;
  while (!nearest.empty() && !fs::exists(nearest, ec) && nearest != nearest.parent_path())
    nearest = nearest.parent_path();
  bool const writable = ::access(nearest.c_str(), W_OK) == 0;
  out.push_back({writable ? Grade::good : Grade::bad,
                 "data directory",
                 cat(dir.string(),
                     fs::exists(dir, ec) ? "" : " (not made yet)",
                     writable ? "" : ": not writable")});
  auto const available = device::disk_available(dir);
  if (available)
    out.push_back(
        {*available < kLittleDisk ? Grade::warning : Grade::good,
         "disk",
         cat(mebibytes(*available), " free; ", mebibytes(kLittleDisk), " is comfortable")});
}

void look_at_config(Options const& options, std::vector<Finding>& out) {
  auto const config = read_config(options.data_dir);
  if (!config.trouble.empty())
    out.push_back({Grade::warning, "waggle.toml", cat(config.trouble, "; it is not used")});
}

void look_at_keys(Options const& options, std::vector<Finding>& out) {
  for (char const* const name : {"identity.key", "record.key"}) {
    struct stat info {};

    auto const path = options.data_dir / name;
    if (::stat(path.c_str(), &info) != 0) {
      out.push_back({Grade::good, name, "will be made at the first start"});
      continue;
    }
    bool const tight = (info.st_mode & 077) == 0;
    out.push_back(
        {tight ? Grade::good : Grade::warning,
         name,
         tight ? "readable by you alone" : cat("others may read it: chmod 600 ", path.string())});
  }
}

void look_at_trainer(Options const& options, std::vector<Finding>& out) {
  auto const trainer = worker::find_trainer(options.trainer);
  if (trainer)
    out.push_back({Grade::good, "trainer", trainer->string()});
  else
    out.push_back({Grade::bad, "trainer", trainer.error().detail});
}

void look_at_memory(std::vector<Finding>& out) {
  auto const memory = device::memory();
  if (!memory) {
    out.push_back({Grade::warning, "memory", memory.error().detail});
    return;
  }
  bool const little = memory->available < kLittleMemory;
  out.push_back({little ? Grade::warning : Grade::good,
                 "memory",
                 cat(mebibytes(memory->available), " available")});
}

void look_at_node(Options const& options, std::vector<Finding>& out) {
  auto const body = api_get(options.data_dir / "api.sock", "/v1/snapshot");
  if (!body) {
    out.push_back({Grade::good, "node", "none runs with this data directory"});
    return;
  }
  auto const json = nlohmann::json::parse(*body, nullptr, false);
  if (!json.is_object()) {
    out.push_back({Grade::bad, "node", "runs, but its answer is no JSON object"});
    return;
  }
  auto const peers = json.value("peers", nlohmann::json::array()).size();
  out.push_back({peers > 0 ? Grade::good : Grade::warning, "peers", cat(peers, " connected")});
  double const offset = json.value("clock_offset", 0.0);
  Grade const grade = std::abs(offset) > kWaggleSkew     ? Grade::bad
                      : std::abs(offset) > kHivemindSkew ? Grade::warning
                                                         : Grade::good;
  out.push_back({grade,
                 "clock",
                 cat("the swarm's clock is ",
                     offset,
                     " s ahead of this machine's; Waggle allows ",
                     kWaggleSkew,
                     " s, hivemind peers accept ",
                     kHivemindSkew,
                     " s")});
  for (auto const& notice : json.value("notices", nlohmann::json::array()))
    out.push_back({Grade::warning, "note", notice.get<std::string>()});
}

}  // namespace

std::vector<Finding> examine(Options const& options) {
  std::vector<Finding> findings;
  look_at_directory(options, findings);
  look_at_config(options, findings);
  look_at_keys(options, findings);
  look_at_trainer(options, findings);
  look_at_memory(findings);
  look_at_node(options, findings);
  return findings;
}

}  // namespace waggle::node
