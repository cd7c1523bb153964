// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "tests/bench/bench.hpp"

int main(int argc, char** argv) {
  using namespace waggle::bench;
  std::pair<char const*, Rows (*)()> const benchmarks[] = {{"codec", codec},
                                                           {"stream", stream},
                                                           {"dht", dht},
                                                           {"allreduce", allreduce},
                                                           {"desktop", desktop}};
  bool json = false;
  std::string wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0)
      json = true;
    else
      wanted = argv[i];
  }
  for (auto const& [name, run] : benchmarks)
    if (wanted == name) {
      print(run(), json);
      return 0;
    }
  std::fprintf(stderr, "usage: waggle-bench NAME [--json]\nknown:");
  for (auto const& [name, run] : benchmarks) std::fprintf(stderr, " %s", name);
  std::fprintf(stderr, "\n");
  return 2;
}
