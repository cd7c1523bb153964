// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace waggle::bench {

/// A program that runs beside this one, and ends with it at the latest.
class Program {
 public:
  /// Standard output goes to `output`, errors nowhere; `environment` (NAME=VALUE) is added. Not
  /// running where it cannot be started.
  Program(std::vector<std::string> const& arguments,
          std::filesystem::path const& output,
          std::vector<std::string> const& environment = {});
  ~Program();
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;

  [[nodiscard]] bool running();
  /// SIGTERM, then up to `seconds` until it has ended; SIGKILL after that.
  void end(double seconds = 20);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Monotonic seconds when it was started.
  [[nodiscard]] double begun() const noexcept { return begun_; }

  /// Seconds of CPU so far, and resident bytes, of it and of all it has started.
  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] double resident_bytes() const;

 private:
  [[nodiscard]] std::vector<pid_t> family() const;

  pid_t pid_ = -1;
  double begun_ = 0;
};

/// The path of a program built beside this one.
[[nodiscard]] std::string beside(std::string const& name);

/// What `waggle status --json` says of a data directory; null while nobody answers.
[[nodiscard]] nlohmann::json status_of(std::filesystem::path const& data_dir);

/// Asks ten times a second until it says yes. False after `seconds`.
template <class Ask>
[[nodiscard]] bool until(double seconds, Ask ask);

/// The last line of a file that is a JSON object; null without.
[[nodiscard]] nlohmann::json last_object(std::filesystem::path const& file);

void sleep_seconds(double seconds);

template <class Ask>
bool until(double seconds, Ask ask) {
  for (int i = 0; i < static_cast<int>(10 * seconds); ++i) {
    if (ask()) return true;
    sleep_seconds(0.1);
  }
  return false;
}

}  // namespace waggle::bench
