// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"

namespace waggle::app::demo {

/// One `waggle` process of the demo: started, listened to line by line, ended. Its standard error
/// goes to `log`. It dies with the demo (PR_SET_PDEATHSIG). Errors of start: io.
class Child {
 public:
  [[nodiscard]] static Result<Child> start(std::vector<std::string> const& arguments,
                                           std::filesystem::path const& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  /// Kills and waits for what still runs.
  ~Child();

  /// The JSON objects that it has printed since the last call; never blocks.
  [[nodiscard]] std::vector<nlohmann::json> take_events();
  /// Its exit status once it has ended (128 + signal if killed).
  [[nodiscard]] std::optional<int> ended();
  void signal(int number) const noexcept;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  [[nodiscard]] int output() const noexcept { return output_.get(); }

 private:
  Child(pid_t pid, Fd output) : pid_(pid), output_(std::move(output)) {}

  pid_t pid_ = -1;
  Fd output_;
  std::string partial_;
  std::optional<int> status_;
};

/// The path of this very program, to start more of it.
[[nodiscard]] std::string own_program();

}  // namespace waggle::app::demo
