// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace waggle::launcher {

/// Where the program may be unpacked: the folder `name` in `parent`.
struct Place {
  std::string parent;
  std::string name;
  bool make_parent = false;  ///< of ~/.cache, which a new home lacks

  [[nodiscard]] std::string path() const { return parent + '/' + name; }
};

/// In the order in which they are tried: the user's cache, then what a read-only or noexec home
/// leaves: /var/tmp, the session's folder, shared memory. `get` is getenv; what it returns may be
/// null. Relative paths in the environment are not used (XDG Base Directory Specification).
[[nodiscard]] std::vector<Place> places(std::function<char const*(char const*)> const& get,
                                        unsigned user);

}  // namespace waggle::launcher
