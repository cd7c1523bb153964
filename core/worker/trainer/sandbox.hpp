// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace waggle::worker {

/// What a process keeps beyond reading, computing and the files that it has open.
struct Keeps {
  /// Devices that may be opened for reading and writing, and steered: "/dev/nvidiactl".
  std::vector<std::string> devices;
  /// Folders whose files may be read: of libraries that load more of their own while they work.
  std::vector<std::string> folders;
};

/// What the driver of a GPU needs to go on: those of its devices that are there, what the kernel
/// tells of them, and the folders of the libraries in this process. `dev` is another one only in
/// tests.
[[nodiscard]] Keeps gpu_keeps(std::string const& dev = "/dev");

/// By Landlock alone, for this thread and those it starts: nothing is written but the devices it
/// `keeps`, no program is run; everything may be read. In this a GPU's driver starts, which looks
/// everywhere and has threads of its own. False: the kernel has no Landlock.
[[nodiscard]] bool keep_from_writing(Keeps const& keeps);

/// Takes from this process what a trainer never needs: sockets, new processes, other programs,
/// opening any file but a few of /proc and /sys for reading, and what it `keeps`. What is open
/// stays usable. seccomp (EPERM) and, where the kernel has it, Landlock, without which no device
/// is kept. Call it with one thread of our own: Landlock binds the caller and what it starts later,
/// seccomp binds all; the threads of a driver that was started before may still read files. Returns
/// what holds now: "seccomp landlock", "seccomp", or "none: why". Source: the list that a prototype
/// measured, in core/worker/README.md; for a GPU the names of its drivers' devices, met on none.
[[nodiscard]] std::string enter_sandbox(Keeps const& keeps = {});

}  // namespace waggle::worker
