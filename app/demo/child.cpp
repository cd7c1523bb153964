// SPDX-License-Identifier: MIT
#include "app/demo/child.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.hpp"

namespace waggle::app::demo {

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Result<Child> Child::start(std::vector<std::string> const& arguments,
                           std::filesystem::path const& log) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Errc::io, cat("cannot make a pipe: ", std::strerror(errno))};
  Fd read_end(ends[0]);
  Fd const write_end(ends[1]);
  Fd const log_file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  Fd const nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log_file || !nothing)
    return Error{Errc::io, cat("cannot open ", log.string(), ": ", std::strerror(errno))};
  std::vector<char*> argv;
  for (auto const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  pid_t const parent = ::getpid();
  pid_t const pid = ::fork();
  if (pid < 0) return Error{Errc::io, cat("cannot start a process: ", std::strerror(errno))};
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0);  // Ctrl-C is the demo's; it tells its children itself
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(write_end.get(), STDOUT_FILENO);
    ::dup2(log_file.get(), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  return Child(pid, std::move(read_end));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      partial_(std::move(other.partial_)),
      status_(other.status_) {
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  std::swap(partial_, other.partial_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  if (pid_ < 0 || ended()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::vector<nlohmann::json> Child::take_events() {
  std::array<char, 65536> buffer;
  for (;;) {
    auto const n = ::read(output_.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    partial_.append(buffer.data(), static_cast<std::size_t>(n));
  }
  std::vector<nlohmann::json> events;
  std::size_t begin = 0;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos;
       end = partial_.find('\n', begin)) {
    auto event = nlohmann::json::parse(partial_.begin() + static_cast<std::ptrdiff_t>(begin),
                                       partial_.begin() + static_cast<std::ptrdiff_t>(end),
                                       nullptr,
                                       false);
    if (event.is_object()) events.push_back(std::move(event));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return events;
}

std::optional<int> Child::ended() {
  if (status_ || pid_ < 0) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

void Child::signal(int number) const noexcept {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

}  // namespace waggle::app::demo
