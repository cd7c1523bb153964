// SPDX-License-Identifier: MIT
#include "tests/bench/programs.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/processes.hpp"

namespace waggle::bench {
namespace {

std::string read_all(std::filesystem::path const& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The fields of /proc/PID/stat behind the name, which may hold anything; the first is the state.
std::vector<std::string> stat_of(pid_t pid) {
  auto const text = read_all("/proc/" + std::to_string(pid) + "/stat");
  auto const end = text.rfind(')');
  std::vector<std::string> fields;
  if (end == std::string::npos) return fields;
  std::istringstream rest(text.substr(end + 1));
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

constexpr std::size_t kParent = 1;
constexpr std::size_t kResidentPages = 21;

double number(std::vector<std::string> const& fields, std::size_t at) {
  return at < fields.size() ? std::strtod(fields[at].c_str(), nullptr) : 0;
}

}  // namespace

Program::Program(std::vector<std::string> const& arguments,
                 std::filesystem::path const& output,
                 std::vector<std::string> const& environment)
    : begun_(monotonic_seconds()) {
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int const out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int const none = ::open("/dev/null", O_RDWR);
  ::dup2(none, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(none, STDERR_FILENO);
  for (auto const& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv;
  for (auto const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

Program::~Program() {
  end();
}

bool Program::running() {
  if (pid_ <= 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void Program::end(double seconds) {
  if (!running()) return;
  ::kill(pid_, SIGTERM);
  if (until(seconds, [this] { return !running(); })) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::vector<pid_t> Program::family() const {
  std::vector<pid_t> members{pid_};
  std::vector<std::pair<pid_t, pid_t>> all;  // process, parent
  std::error_code ec;
  for (auto const& entry : std::filesystem::directory_iterator("/proc", ec)) {
    auto const pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid > 0) all.emplace_back(pid, static_cast<pid_t>(number(stat_of(pid), kParent)));
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    for (auto const& [pid, parent] : all)
      if (parent == members[i]) members.push_back(pid);
  return members;
}

// By the scheduler's nanoseconds: who wakes for a fraction of a millisecond is charged whole ticks
// of 10 ms in /proc/PID/stat, or none.
double Program::cpu_seconds() const {
  double nanoseconds = 0;
  std::error_code ec;
  for (auto const pid : family()) {
    // A process may end while it is looked at.
    std::filesystem::directory_iterator thread("/proc/" + std::to_string(pid) + "/task", ec);
    for (; !ec && thread != std::filesystem::directory_iterator(); thread.increment(ec)) {
      std::ifstream in(thread->path() / "schedstat");
      double on_processor = 0;
      if (in >> on_processor) nanoseconds += on_processor;
    }
  }
  return nanoseconds / 1e9;
}

double Program::resident_bytes() const {
  double pages = 0;
  for (auto const pid : family()) pages += number(stat_of(pid), kResidentPages);
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::string beside(std::string const& name) {
  std::error_code ec;
  return (std::filesystem::read_symlink("/proc/self/exe", ec).parent_path() / name).string();
}

nlohmann::json status_of(std::filesystem::path const& data_dir) {
  auto const command =
      beside("waggle") + " status --json --data-dir '" + data_dir.string() + "' 2>/dev/null";
  std::string text;
  auto* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return nullptr;
  char buffer[4096];
  while (auto const n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  ::pclose(pipe);
  auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains("tasks") ? json : nlohmann::json(nullptr);
}

nlohmann::json last_object(std::filesystem::path const& file) {
  std::ifstream in(file);
  nlohmann::json last;
  for (std::string line; std::getline(in, line);) {
    auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object()) last = std::move(json);
  }
  return last;
}

void sleep_seconds(double seconds) {
  ::usleep(static_cast<useconds_t>(seconds * 1e6));
}

}  // namespace waggle::bench
