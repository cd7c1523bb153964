// SPDX-License-Identifier: MIT
#include "core/device/machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/base/text.hpp"

namespace waggle::device {
namespace {

constexpr std::uint64_t kKibi = 1024;

// "MemAvailable:   12345 kB"
Result<std::uint64_t> field(std::string_view text, std::string_view name) {
  auto const at = text.find(name);
  if (at == std::string_view::npos)
    return Error{Errc::malformed, cat("/proc/meminfo has no ", name)};
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t kib = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (ec != std::errc{} || kib > UINT64_MAX / kKibi)
    return Error{Errc::malformed, cat("/proc/meminfo: ", name, " has no number")};
  return kib * kKibi;
}

}  // namespace

Result<Memory> parse_meminfo(std::string_view text) {
  WAGGLE_TRY(auto const total, field(text, "MemTotal:"));
  WAGGLE_TRY(auto const available, field(text, "MemAvailable:"));
  return Memory{total, available};
}

Result<Memory> memory() {
  std::ifstream file("/proc/meminfo");
  if (!file) return Error{Errc::io, "cannot read /proc/meminfo"};
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  return parse_meminfo(text);
}

unsigned cores() noexcept {
  return std::max(1U, std::thread::hardware_concurrency());
}

Result<std::uint64_t> disk_available(std::filesystem::path const& path) {
  std::error_code ec;
  auto nearest = std::filesystem::absolute(path, ec);
  while (!std::filesystem::exists(nearest, ec) && nearest != nearest.parent_path())
    nearest = nearest.parent_path();
  auto const space = std::filesystem::space(nearest, ec);
  if (ec)
    return Error{Errc::io, cat("cannot ask the volume of ", path.string(), ": ", ec.message())};
  return static_cast<std::uint64_t>(space.available);
}

}  // namespace waggle::device
