// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "tests/bench/bench.hpp"

int main(int argc, char** argv) {
  using namespace waggle::bench;
  bool json = false;
  std::string wanted;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0)
      json = true;
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else
      wanted = argv[i];
  }
#ifdef WAGGLE_GUI
  if (wanted == kBareWindow) return bare_window();
#endif
  std::pair<char const*, std::function<Rows()>> const benchmarks[] = {
      {"codec", codec},
      {"stream", stream},
      {"dht", dht},
      {"allreduce", allreduce},
      {"desktop", [&] { return desktop(only); }}};
  bool const known_part = only.empty() || (wanted == "desktop" && is_part_of_desktop(only));
  for (auto const& [name, run] : benchmarks)
    if (wanted == name && known_part) {
      print(run(), json);
      return 0;
    }
  std::fprintf(stderr,
               "usage: waggle-bench NAME [--json]\n"
               "       waggle-bench desktop --only file|window|training|step [--json]\nknown:");
  for (auto const& [name, run] : benchmarks) std::fprintf(stderr, " %s", name);
  std::fprintf(stderr, "\n");
  return 2;
}
