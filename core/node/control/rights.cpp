// SPDX-License-Identifier: MIT
#include "core/node/control/rights.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace waggle::node::control {
namespace {

// A list of what is allowed, so that a setting of tomorrow (a path to a program, an open port) is
// not within reach before somebody has thought about it.
constexpr std::array<std::string_view, 12> kSettings{"power",
                                                     "threads",
                                                     "cpu_share",
                                                     "disk_gib",
                                                     "max_memory",
                                                     "gpu_duty",
                                                     "max_gpu_memory",
                                                     "gpu_power_cap",
                                                     "max_download",
                                                     "max_upload",
                                                     "daily_traffic",
                                                     "keep_awake"};
constexpr std::string_view kGuest = "guest.";

}  // namespace

Status may_give(Right right, Command const& command) {
  using Kind = Command::Kind;
  if (right != Right::control)
    return Error{Errc::refused, "you may watch this machine, but not control it"};
  switch (command.kind) {
    case Kind::pause:
    case Kind::resume:
    case Kind::finish:
    case Kind::stop:
    case Kind::measure:
    case Kind::join:
    case Kind::leave:
    case Kind::look:
    case Kind::browse:
      return ok();
    case Kind::set:
      if (command.name.starts_with(kGuest) ||
          std::find(kSettings.begin(), kSettings.end(), command.name) != kSettings.end())
        return ok();
      return Error{Errc::refused,
                   cat("\"", command.name, "\" can only be changed at the machine itself")};
    case Kind::pair:
    case Kind::unpair:
      break;
  }
  return Error{Errc::refused, "who may watch is decided at the machine itself"};
}

}  // namespace waggle::node::control
