// SPDX-License-Identifier: MIT
#include "core/device/detail/text_file.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.hpp"

namespace waggle::device::detail {

std::string read_small(std::filesystem::path const& file, std::size_t limit) {
  // Not blocking: a pipe where a file should be must not hold us.
  Fd const fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return {};
  std::string text(limit, '\0');
  std::size_t have = 0;
  while (have < limit) {
    auto const got = ::read(fd.get(), text.data() + have, limit - have);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  auto const last = text.find_last_not_of(" \t\r\n");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

std::vector<std::string> names_in(std::filesystem::path const& folder, std::size_t most) {
  std::vector<std::string> names;
  std::error_code ec;
  auto entry = std::filesystem::directory_iterator(folder, ec);
  while (!ec && entry != std::filesystem::directory_iterator() && names.size() < most) {
    names.push_back(entry->path().filename().string());
    entry.increment(ec);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

}  // namespace waggle::device::detail
