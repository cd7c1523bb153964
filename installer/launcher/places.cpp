// SPDX-License-Identifier: MIT
#include "installer/launcher/places.hpp"

#include <string_view>

#include "core/base/text.hpp"

namespace waggle::launcher {

std::vector<Place> places(std::function<char const*(char const*)> const& get, unsigned user) {
  auto const absolute = [&get](char const* name) {
    auto const* const value = get(name);
    std::string path(value != nullptr && *value == '/' ? value : "");
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  };
  auto const own_name = cat("waggle-", user);
  std::vector<Place> out;
  if (auto const cache = absolute("XDG_CACHE_HOME"); !cache.empty())
    out.push_back({cache, "waggle", true});
  if (auto const home = absolute("HOME"); !home.empty() && home != "/")
    out.push_back({cat(home, "/.cache"), "waggle", true});
  out.push_back({"/var/tmp", own_name});
  if (auto const runtime = absolute("XDG_RUNTIME_DIR"); !runtime.empty())
    out.push_back({runtime, "waggle"});
  out.push_back({"/dev/shm", own_name});
  return out;
}

}  // namespace waggle::launcher
