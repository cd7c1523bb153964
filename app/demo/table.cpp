// SPDX-License-Identifier: MIT
#include "app/demo/table.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace waggle::app::demo {
namespace {

constexpr double kRedrawSeconds = 0.5;
constexpr double kLineSeconds = 5;

char const* state_of(Volunteer const& v) {
  return v.killed ? "killed" : v.state.c_str();
}

}  // namespace

std::optional<double> swarm_accuracy(std::list<Volunteer> const& volunteers) {
  std::int64_t newest = -1;
  std::optional<double> figure;
  for (auto const& v : volunteers)
    if (v.sample_figure && v.measured_at > newest) {
      newest = v.measured_at;
      figure = v.sample_figure;
    }
  return figure;
}

Table::Table(bool quiet) : quiet_(quiet), terminal_(::isatty(STDOUT_FILENO) == 1) {
}

void Table::draw(std::list<Volunteer> const& volunteers, double elapsed_s) {
  if (quiet_ || elapsed_s - last_drawn_ < (terminal_ ? kRedrawSeconds : kLineSeconds)) return;
  last_drawn_ = elapsed_s;
  auto const figure = swarm_accuracy(volunteers);
  if (!terminal_) {
    std::int64_t epoch = 0;
    double rate = 0;
    for (auto const& v : volunteers) {
      epoch = std::max(epoch, v.epoch);
      if (!v.killed) rate += v.samples_per_second;
    }
    std::printf(
        "%5.0f s  epoch %4lld  %6.0f samples/s", elapsed_s, static_cast<long long>(epoch), rate);
    if (figure) std::printf("  measured %.4f", *figure);
    std::printf("\n");
    std::fflush(stdout);
    return;
  }
  if (lines_ > 0) std::printf("\033[%zuA", lines_);
  std::printf("\033[K%5.0f s\n\033[K%-8s %-10s %6s %10s %10s %8s %6s %9s\n",
              elapsed_s,
              "peer",
              "state",
              "epoch",
              "samples/s",
              "samples",
              "loss",
              "group",
              "MB out");
  for (auto const& v : volunteers)
    std::printf("\033[K%-8s %-10s %6lld %10.0f %10llu %8.4f %6zu %9.1f\n",
                v.name.c_str(),
                state_of(v),
                static_cast<long long>(v.epoch),
                v.killed ? 0.0 : v.samples_per_second,
                static_cast<unsigned long long>(v.samples_given),
                v.loss.value_or(0),
                v.group,
                static_cast<double>(v.socket_bytes) / 1e6);
  if (figure) std::printf("\033[Kthe swarm's figure on held-out data: %.4f\n", *figure);
  lines_ = 2 + volunteers.size() + (figure ? 1 : 0);
  std::fflush(stdout);
}

}  // namespace waggle::app::demo
