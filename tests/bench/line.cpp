// SPDX-License-Identifier: MIT
#include "tests/bench/line.hpp"

#include <cstdlib>

#include <unistd.h>

namespace waggle::bench {
namespace {

bool run(std::string const& command) {
  return std::system(("( " + command + " ) >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

Line::Line() : name_("wgb-" + std::to_string(::getpid())) {
  auto const a = name_ + "-a";
  auto const b = name_ + "-b";
  auto const shape = " root tbf rate 100mbit burst 64kb latency 50ms";
  for (auto const& step : {"ip netns add " + a,
                           "ip netns add " + b,
                           "ip link add wgb0 netns " + a + " type veth peer name wgb1 netns " + b,
                           "ip -n " + a + " addr add 10.98.0.1/24 dev wgb0",
                           "ip -n " + b + " addr add 10.98.0.2/24 dev wgb1",
                           "ip -n " + a + " link set wgb0 up",
                           "ip -n " + b + " link set wgb1 up",
                           "ip -n " + a + " link set lo up",
                           "ip -n " + b + " link set lo up",
                           "tc -n " + a + " qdisc add dev wgb0" + shape,
                           "tc -n " + b + " qdisc add dev wgb1" + shape})
    if (!run(step)) {
      trouble_ = "failed: " + step + " (needs root, iproute2 and network namespaces)";
      return;
    }
}

Line::~Line() {
  run("ip netns del " + name_ + "-a");
  run("ip netns del " + name_ + "-b");
}

std::vector<std::string> Line::at(char const* end, std::vector<std::string> command) const {
  command.insert(command.begin(), {"nsenter", "--net=/run/netns/" + name_ + "-" + end});
  return command;
}

}  // namespace waggle::bench
