// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/node/report/log_lines.hpp"

#include "app/command.hpp"
#include "app/signals.hpp"

namespace waggle::app {
namespace {

constexpr int kLookMs = 250;

struct Flags {
  bool follow = false;
  std::string level = "trace";
  std::string since;
  std::size_t last = 0;
};

void print(Common const& common, log::Line const& line) {
  if (!common.json) {
    std::printf("%s\n", node::format_log_line(line).c_str());
    return;
  }
  nlohmann::ordered_json const object = {{"time", line.time},
                                         {"level", log::name(line.level)},
                                         {"module", line.module},
                                         {"text", line.text}};
  std::printf(
      "%s\n",
      object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

// What there is, or its last lines.
Status print_kept(Common const& common,
                  Flags const& flags,
                  node::LogFilter const& filter,
                  node::LogReader& reader) {
  std::deque<log::Line> last;
  auto const read = reader.read([&](log::Line const& line) {
    if (!filter.lets(line)) return;
    if (flags.last == 0) {
      print(common, line);
      return;
    }
    last.push_back(line);
    if (last.size() > flags.last) last.pop_front();
  });
  for (auto const& line : last) print(common, line);
  return read;
}

int run(Common const& common, Flags const& flags) {
  node::LogFilter filter;
  filter.level = *node::log_level(flags.level);
  if (!flags.since.empty()) {
    auto const since = node::parse_since(flags.since, static_cast<double>(std::time(nullptr)));
    if (!since)
      return fail(common,
                  Error{Errc::invalid,
                        "--since takes 90s, 10m, 2h, 3d, or a time like 2026-01-31T12:00 (UTC)"},
                  kUsage);
    filter.since = *since;
  }
  node::LogReader reader(common.data_dir / "logs");
  auto const kept = print_kept(common, flags, filter, reader);
  // Who follows may come before the first line is written.
  if (!kept && !(flags.follow && kept.error().code == Errc::not_found))
    return fail(common, kept.error());
  if (!flags.follow) return kDone;
  signals::catch_interrupts();
  for (;;) {
    if (std::fflush(stdout) != 0) return kDone;  // the reader of our pipe has left
    signals::wait(kLookMs);
    if (signals::count() > 0) return signals::last_was_term() ? kDone : kInterrupted;
    auto const read = reader.read([&](log::Line const& line) {
      if (filter.lets(line)) print(common, line);
    });
    if (!read && read.error().code != Errc::not_found) return fail(common, read.error());
  }
}

}  // namespace

void add_logs(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand("logs", "What the Waggle of this data directory wrote");
  add_common(*command, common);
  auto const flags = std::make_shared<Flags>();
  command->add_flag("-f,--follow", flags->follow, "Go on with what comes, until Ctrl-C");
  command->add_option("--level", flags->level, "The least that is shown")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}))
      ->capture_default_str();
  command->add_option("--since",
                      flags->since,
                      "Only what is not older: 90s, 10m, 2h, 3d, or 2026-01-31T12:00 (UTC)");
  command->add_option("-n,--last", flags->last, "Only the last so many lines; 0: all [0]");
  add_examples(*command,
               "  waggle logs --follow\n"
               "  waggle logs --level warning --since 2h\n"
               "  waggle logs --last 100 --json | jq .text\n");
  command->callback(
      [&common, &chosen, flags] { chosen = [&common, flags] { return run(common, *flags); }; });
}

}  // namespace waggle::app
