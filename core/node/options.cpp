// SPDX-License-Identifier: MIT
#include "core/node/options.hpp"

#include <cstdlib>

namespace waggle::node {

bool is_loopback(std::string const& host) {
  auto const address = wire::Multiaddr::tcp(host, 1);
  return address && address->is_loopback();
}

std::filesystem::path default_data_dir() {
  if (char const* const xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg == '/')
    return std::filesystem::path(xdg) / "waggle";
  char const* const home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr && *home == '/' ? home : "/") /
         ".local/share/waggle";
}

}  // namespace waggle::node
