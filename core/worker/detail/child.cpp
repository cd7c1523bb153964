// SPDX-License-Identifier: MIT
#include "core/worker/detail/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

#include <asio/posix/stream_descriptor.hpp>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/signal.hpp"
#include "core/base/text.hpp"

extern "C" char** environ;

namespace waggle::worker {
namespace {

using std::chrono::milliseconds;

constexpr int kTrainerSocket = 3;

std::vector<std::string> environment(std::uint32_t threads) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const text(*entry);
    if (!text.starts_with("OMP_") && !text.starts_with("GOMP_")) out.emplace_back(text);
  }
  // Before libgomp loads, or not at all: on a busy machine spinning waits cost a factor of five.
  out.emplace_back("OMP_WAIT_POLICY=PASSIVE");
  out.push_back(cat("OMP_NUM_THREADS=", threads));
  return out;
}

// Runs between vfork and exec, in the parent's memory: system calls and nothing else.
[[noreturn]] void become_trainer(int socket,
                                 char const* path,
                                 char* const* argv,
                                 char* const* envp,
                                 Priority priority) noexcept {
  struct sigaction standard {};

  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();  // no terminal of its own, so that none can be typed into
  if (socket == kTrainerSocket)
    ::fcntl(socket, F_SETFD, 0);
  else
    ::dup2(socket, kTrainerSocket);
  int const nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0) ::close(STDIN_FILENO);
  if (nothing > STDIN_FILENO) ::dup2(nothing, STDIN_FILENO);
  ::syscall(SYS_close_range, kTrainerSocket + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (priority != Priority::normal) ::setpriority(PRIO_PROCESS, 0, 19);
  if (priority == Priority::idle) {
    sched_param const parameter{};
    ::sched_setscheduler(0, SCHED_IDLE, &parameter);
    ::syscall(SYS_ioprio_set, 1, 0, 3 << 13);  // this process, idle class
  }
  rlimit const no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::execve(path, argv, envp);
  ::_exit(127);
}

/// Waits for a killed process without holding up the thread: freeing gigabytes takes it a while.
void reap_later(Runtime& runtime, pid_t pid) {
  (void)runtime.call_at(runtime.now() + milliseconds(5), [&runtime, pid] {
    if (::waitpid(pid, nullptr, WNOHANG) == 0) reap_later(runtime, pid);
  });
}

Duration duration_of(timeval const& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return cat("killed by signal ", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return "could not be executed";
  return cat("exit code ", WEXITSTATUS(status));
}

}  // namespace

struct Child::Socket {
  /// Shared with the pending wait, which may outlive the Child by a turn of the loop.
  struct Readiness {
    explicit Readiness(Runtime& runtime) : signal(runtime) {}

    Signal signal;
    bool armed = false;
  };

  Socket(Runtime& runtime, int fd)
      : descriptor(runtime.executor(), fd), readiness(std::make_shared<Readiness>(runtime)) {}

  void arm() {
    if (readiness->armed) return;
    readiness->armed = true;
    descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                          [ready = readiness](asio::error_code const&) {
                            ready->armed = false;
                            ready->signal.notify_all();
                          });
  }

  asio::posix::stream_descriptor descriptor;
  std::shared_ptr<Readiness> readiness;
};

Child::Child(Runtime& runtime, int pid, Fd socket)
    : runtime_(runtime), pid_(pid), socket_(std::make_unique<Socket>(runtime, socket.release())) {
}

Result<std::unique_ptr<Child>> Child::spawn(Runtime& runtime, ChildOptions const& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Errc::io, cat("socketpair: ", std::strerror(errno))};
  Fd ours(ends[0]);
  Fd const theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  auto const path = options.executable.string();
  auto variables = environment(options.threads);
  std::vector<char*> envp;
  for (auto& v : variables) envp.push_back(v.data());
  envp.push_back(nullptr);
  std::string name = "waggle-trainer";
  char* const argv[] = {name.data(), nullptr};

  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  pid_t const pid = ::vfork();
  if (pid == 0) become_trainer(theirs.get(), path.c_str(), argv, envp.data(), options.priority);
#pragma GCC diagnostic pop
  int const error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return Error{Errc::io, cat("starting ", path, ": ", std::strerror(error))};
  return std::unique_ptr<Child>(new Child(runtime, pid, std::move(ours)));
}

Child::~Child() {
  if (!reaped_) {
    kill();
    if (!try_reap(false)) reap_later(runtime_, pid_);
  }
}

Status Child::send(ByteView bytes, std::span<int const> descriptors) {
  if (!socket_) return Error{Errc::closed, "trainer socket"};
  return send_packet(socket_->descriptor.native_handle(), bytes, descriptors);
}

Co<Result<Packet>> Child::receive(TimePoint deadline) {
  auto const readiness = socket_->readiness;
  auto const paused_before = paused_total_;
  for (;;) {
    auto packet = receive_packet(socket_->descriptor.native_handle());
    if (packet || packet.error().code != Errc::timeout) co_return packet;
    socket_->arm();
    // A paused trainer's deadline stands still.
    auto due = deadline;
    if (deadline != kNoDeadline) due += paused_total_ - paused_before;
    if (paused_) due = runtime_.now() + milliseconds(200);
    auto waited = co_await readiness->signal.wait(due);
    if (waited) continue;
    auto const code = waited.error().code;
    if (code == Errc::timeout &&
        (paused_ || (deadline != kNoDeadline && due < deadline + paused_total_ - paused_before)))
      continue;
    if (code == Errc::timeout) co_return Error{Errc::timeout, "the trainer did not answer in time"};
    co_return std::move(waited).error();
  }
}

void Child::kill() noexcept {
  if (!reaped_) ::kill(pid_, SIGKILL);
}

void Child::hang_up() noexcept {
  socket_.reset();
  resume();
}

bool Child::try_reap(bool block) noexcept {
  if (reaped_) return true;
  pid_t got = -1;
  rusage used{};
  do {
    got = ::wait4(pid_, &status_, block ? 0 : WNOHANG, &used);
  } while (got < 0 && errno == EINTR);
  // ECHILD: somebody else waits for all children; the process is gone all the same.
  if (got == pid_ || got < 0) reaped_ = true;
  if (got == pid_) used_ = duration_of(used.ru_utime) + duration_of(used.ru_stime);
  return reaped_;
}

Co<std::string> Child::reap(Duration patience) {
  auto const end = runtime_.now() + patience;
  bool killed = false;
  while (!try_reap(false)) {
    if (!killed && runtime_.now() >= end) {
      kill();
      killed = true;
    }
    auto slept = co_await runtime_.sleep_for(milliseconds(2));
    if (!slept) {  // cancelled: nothing suspends any more
      kill();
      (void)try_reap(true);
    }
  }
  co_return describe(status_);
}

void Child::pause() noexcept {
  if (paused_ || reaped_) return;
  paused_ = true;
  paused_since_ = runtime_.now();
  ::kill(pid_, SIGSTOP);
}

void Child::resume() noexcept {
  if (!paused_) return;
  paused_ = false;
  paused_total_ += runtime_.now() - paused_since_;
  if (!reaped_) ::kill(pid_, SIGCONT);
}

Duration Child::cpu_time() const noexcept {
  clockid_t clock{};
  timespec used{};
  if (reaped_) return used_;
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace waggle::worker
