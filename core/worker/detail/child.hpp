// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/runtime.hpp"
#include "core/worker/packet.hpp"
#include "core/worker/trainer_process.hpp"

namespace waggle::worker {

struct ChildOptions {
  std::filesystem::path executable;
  std::uint32_t threads = 1;
  Priority priority = Priority::idle;
};

/// One running trainer and our end of its socket. Knows nothing of what is said.
/// Thread: the network thread.
class Child {
 public:
  /// vfork and exec: from a large parent milliseconds faster than fork. The child gets /dev/null as
  /// 0, our 1 and 2, the socket as 3, a session of its own (a terminal's Ctrl-C is the node's to
  /// handle, and its input not the trainer's), and dies with us. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<Child>> spawn(Runtime& runtime,
                                                            ChildOptions const& options);
  /// Kills; the runtime's timers reap, so that nothing waits here.
  ~Child();
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;

  /// Errors: closed, io.
  [[nodiscard]] Status send(ByteView bytes, std::span<int const> descriptors);
  /// Errors: closed (the process is gone or going), timeout, cancelled, malformed, io.
  [[nodiscard]] Co<Result<Packet>> receive(TimePoint deadline);

  /// SIGKILL now.
  void kill() noexcept;
  /// Closes our end, which tells the trainer to leave.
  void hang_up() noexcept;
  /// Waits for the end and says how it came ("killed by signal 9", "exit code 1"). Kills after
  /// `patience`. Blocks only once it is cancelled, because then nothing suspends any more.
  [[nodiscard]] Co<std::string> reap(Duration patience);

  /// Whether it has ended; never blocks.
  [[nodiscard]] bool gone() noexcept { return try_reap(false); }

  void pause() noexcept;
  void resume() noexcept;

  [[nodiscard]] bool paused() const noexcept { return paused_; }

  [[nodiscard]] int pid() const noexcept { return pid_; }

  /// Processor time used by all its threads: so far, or until its end.
  [[nodiscard]] Duration cpu_time() const noexcept;

 private:
  struct Socket;
  Child(Runtime& runtime, int pid, Fd socket);
  [[nodiscard]] bool try_reap(bool block) noexcept;

  Runtime& runtime_;
  int pid_;
  int status_ = 0;
  bool reaped_ = false;
  Duration used_{};  // once reaped
  bool paused_ = false;
  TimePoint paused_since_{};
  Duration paused_total_{};
  std::unique_ptr<Socket> socket_;
};

}  // namespace waggle::worker
