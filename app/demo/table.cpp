// SPDX-License-Identifier: MIT
#include "app/demo/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace waggle::app::demo {
namespace {

constexpr double kRedrawSeconds = 0.5;
constexpr double kLineSeconds = 5;

char const* state_of(Volunteer const& v) {
  return v.killed ? "killed" : v.state.c_str();
}

// "1:15 of 10:00   epoch 11   accuracy 28.1 %, goal 88.0 %   290 samples/s"
std::string headline(std::list<Volunteer> const& volunteers, Goal const& goal, double elapsed_s) {
  std::int64_t epoch = 0;
  double rate = 0;
  for (auto const& v : volunteers) {
    epoch = std::max(epoch, v.epoch);
    if (!v.killed) rate += v.samples_per_second;
  }
  auto const figure = latest_figure(volunteers);
  std::array<char, 64> measured{"not measured yet"};
  if (figure && goal.is_text())
    std::snprintf(measured.data(), measured.size(), "%.3f, goal %.3f", *figure, goal.threshold());
  else if (figure)
    std::snprintf(measured.data(),
                  measured.size(),
                  "%.1f %%, goal %.1f %%",
                  100 * *figure,
                  100 * goal.target);
  auto const whole = [](double seconds) { return static_cast<int>(seconds); };
  std::array<char, 160> line{};
  std::snprintf(line.data(),
                line.size(),
                "%d:%02d of %d:%02d   epoch %lld   held-out %s %s   %.0f samples/s",
                whole(elapsed_s) / 60,
                whole(elapsed_s) % 60,
                whole(goal.time_limit_s) / 60,
                whole(goal.time_limit_s) % 60,
                static_cast<long long>(epoch),
                goal.is_text() ? "loss" : "accuracy",
                measured.data(),
                rate);
  return line.data();
}

}  // namespace

std::optional<double> latest_figure(std::list<Volunteer> const& volunteers) {
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

void Table::draw(std::list<Volunteer> const& volunteers, Goal const& goal, double elapsed_s) {
  if (quiet_ || elapsed_s - last_drawn_ < (terminal_ ? kRedrawSeconds : kLineSeconds)) return;
  last_drawn_ = elapsed_s;
  auto const line = headline(volunteers, goal, elapsed_s);
  if (!terminal_) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    return;
  }
  if (lines_ > 0) std::printf("\033[%zuA", lines_);
  std::printf("\033[K%s\n\033[K%-8s %-12s %6s %10s %10s %8s %6s %9s\n",
              line.c_str(),
              "peer",
              "state",
              "epoch",
              "samples/s",
              "samples",
              "loss",
              "group",
              "MB sent");
  for (auto const& v : volunteers) {
    std::array<char, 16> loss{"-"};
    if (v.loss) std::snprintf(loss.data(), loss.size(), "%.4f", *v.loss);
    std::printf("\033[K%-8s %-12s %6lld %10.0f %10llu %8s %6zu %9.1f\n",
                v.name.c_str(),
                state_of(v),
                static_cast<long long>(v.epoch),
                v.killed ? 0.0 : v.samples_per_second,
                static_cast<unsigned long long>(v.samples_given),
                loss.data(),
                v.group,
                static_cast<double>(v.socket_bytes) / 1e6);
  }
  lines_ = 2 + volunteers.size();
  std::fflush(stdout);
}

}  // namespace waggle::app::demo
