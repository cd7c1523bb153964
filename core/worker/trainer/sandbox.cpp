// SPDX-License-Identifier: MIT
#include "core/worker/trainer/sandbox.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

namespace waggle::worker {
namespace {

// The kernel headers of Debian 12 know less than its kernels: the struct as the newest ABI has it,
// passed with the size that the running one understands.
struct RulesetAttributes {
  std::uint64_t access_fs;
  std::uint64_t access_net;
  std::uint64_t scoped;
};

constexpr std::uint64_t kFsAbi1 = (1u << 13) - 1;  // execute … make_sym
constexpr std::uint64_t kFsRefer = 1u << 13;       // ABI 2
constexpr std::uint64_t kFsTruncate = 1u << 14;    // ABI 3
constexpr std::uint64_t kFsIoctl = 1u << 15;       // ABI 5
constexpr std::uint64_t kNet = 3;                  // ABI 4: bind, connect by TCP
constexpr std::uint64_t kScoped = 3;               // ABI 6: abstract sockets, signals
constexpr std::uint64_t kReadFile = 1u << 2;
constexpr std::uint64_t kRead = kReadFile | (1u << 3);  // and list a folder
constexpr std::uint64_t kDevice = kReadFile | (1u << 1) | kFsIoctl;

// A path that is not there is no right lost.
bool allow(Fd const& ruleset, std::string const& path, std::uint64_t access) {
  Fd const place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) return true;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = place.get();
  return ::syscall(__NR_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ==
         0;
}

// `strict`: reads only what every trainer may, and what it keeps; else all there is.
bool restrict_files(Keeps const& keeps, bool strict) {
  auto const abi =
      ::syscall(__NR_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return false;
  RulesetAttributes attributes{kFsAbi1, 0, 0};
  std::size_t size = 8;
  if (abi >= 2) attributes.access_fs |= kFsRefer;
  if (abi >= 3) attributes.access_fs |= kFsTruncate;
  if (abi >= 4) attributes.access_net = kNet, size = 16;
  if (abi >= 5) attributes.access_fs |= kFsIoctl;
  if (abi >= 6) attributes.scoped = kScoped, size = 24;
  Fd const ruleset(static_cast<int>(::syscall(__NR_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset) return false;
  bool allowed = true;
  if (strict)
    allowed = allow(ruleset, "/proc/self", kRead) && allow(ruleset, "/proc/cpuinfo", kReadFile) &&
              allow(ruleset, "/proc/meminfo", kReadFile) &&
              allow(ruleset, "/sys/devices/system/cpu", kRead);
  else
    allowed = allow(ruleset, "/", kRead);
  for (auto const& device : keeps.devices)
    allowed = allowed && allow(ruleset, device, kDevice & attributes.access_fs);
  for (auto const& folder : keeps.folders) allowed = allowed && allow(ruleset, folder, kRead);
  return allowed && ::syscall(__NR_landlock_restrict_self, ruleset.get(), 0) == 0;
}

// The folder of each library that is loaded.
int note_folder(dl_phdr_info* library, std::size_t, void* into) {
  std::filesystem::path const path(library->dlpi_name == nullptr ? "" : library->dlpi_name);
  if (path.is_absolute())
    static_cast<std::set<std::string>*>(into)->insert(path.parent_path().string());
  return 0;
}

#if defined(__x86_64__)

// Everything that training used under strace, and little more.
constexpr std::uint32_t kAllowed[] = {__NR_read,
                                      __NR_write,
                                      __NR_close,
                                      __NR_fstat,
                                      __NR_lseek,
                                      __NR_pread64,
                                      __NR_readv,
                                      __NR_writev,
                                      __NR_mmap,
                                      __NR_mprotect,
                                      __NR_munmap,
                                      __NR_mremap,
                                      __NR_brk,
                                      __NR_madvise,
                                      __NR_mincore,
                                      __NR_futex,
                                      __NR_membarrier,
                                      __NR_set_robust_list,
                                      __NR_rseq,
                                      __NR_set_tid_address,
                                      __NR_rt_sigaction,
                                      __NR_rt_sigprocmask,
                                      __NR_rt_sigreturn,
                                      __NR_sigaltstack,
                                      __NR_tgkill,
                                      __NR_exit,
                                      __NR_exit_group,
                                      __NR_sched_yield,
                                      __NR_sched_getaffinity,
                                      __NR_sched_setaffinity,
                                      __NR_getcpu,
                                      __NR_clock_gettime,
                                      __NR_clock_getres,
                                      __NR_clock_nanosleep,
                                      __NR_nanosleep,
                                      __NR_gettimeofday,
                                      __NR_restart_syscall,
                                      __NR_getpid,
                                      __NR_gettid,
                                      __NR_getrusage,
                                      __NR_getrlimit,
                                      __NR_prlimit64,
                                      __NR_uname,
                                      __NR_sysinfo,
                                      __NR_getrandom,
                                      __NR_recvmsg,
                                      __NR_sendmsg,
                                      __NR_recvfrom,
                                      __NR_sendto,
                                      __NR_poll,
                                      __NR_ppoll,
                                      __NR_getdents64,
                                      __NR_newfstatat,
                                      __NR_statx,
                                      __NR_readlink,
                                      __NR_access,
                                      __NR_fcntl};

// What the drivers of GPUs are told to do; eventfd and ppoll's kin are how they wait.
constexpr std::uint32_t kAllowedWithDevices[] = {__NR_eventfd2, __NR_pipe2, __NR_dup};

// No driver's, and of the terminal that standard output may be: typing into it, its console, its
// discipline, becoming its owner.
constexpr std::uint32_t kRefusedSteering[] = {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCSCTTY};

constexpr std::uint32_t kWriting =
    O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

std::vector<sock_filter> program(bool devices) {
  std::vector<sock_filter> out;
  auto const load = [&](std::size_t offset) {
    out.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  auto const answer = [&](std::uint32_t action) {
    out.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  };
  // Jumps over the next `skip` instructions unless the accumulator equals `value`.
  auto const unless_equal = [&](std::uint32_t value, std::uint8_t skip) {
    out.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
  };
  load(offsetof(seccomp_data, arch));
  unless_equal(AUDIT_ARCH_X86_64, 1);
  out.push_back(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
  answer(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(seccomp_data, nr));
  // x32 system calls would dodge the numbers below.
  out.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  answer(SECCOMP_RET_KILL_PROCESS);
  for (auto const number : kAllowed) {
    unless_equal(number, 1);
    answer(SECCOMP_RET_ALLOW);
  }
  // Threads yes, processes no. clone3 hides its flags behind a pointer; glibc falls back to clone.
  unless_equal(__NR_clone3, 1);
  answer(SECCOMP_RET_ERRNO | ENOSYS);
  unless_equal(__NR_clone, 4);
  load(offsetof(seccomp_data, args[0]));
  out.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
  answer(SECCOMP_RET_ALLOW);
  answer(SECCOMP_RET_ERRNO | EPERM);
  // What steers a device, and its mappings; which one may be opened for it, Landlock says.
  if (devices) {
    for (auto const number : kAllowedWithDevices) {
      unless_equal(number, 1);
      answer(SECCOMP_RET_ALLOW);
    }
    unless_equal(__NR_ioctl, 2 * std::size(kRefusedSteering) + 2);
    load(offsetof(seccomp_data, args[1]));  // the kernel looks at the lower half alone, too
    for (auto const request : kRefusedSteering) {
      unless_equal(request, 1);
      answer(SECCOMP_RET_ERRNO | EPERM);
    }
    answer(SECCOMP_RET_ALLOW);
  }
  unless_equal(__NR_openat, 4);
  load(offsetof(seccomp_data, args[2]));
  std::uint32_t const refused = devices ? kWriting & ~std::uint32_t{O_RDWR} : kWriting;
  out.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, refused, 1, 0));
  answer(SECCOMP_RET_ALLOW);
  answer(SECCOMP_RET_ERRNO | EACCES);
  answer(SECCOMP_RET_ERRNO | EPERM);
  return out;
}

bool restrict_calls(bool devices) {
  auto filter = program(devices);
  sock_fprog const code{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &code) == 0;
}

#else

bool restrict_calls(bool) {
  errno = ENOSYS;
  return false;
}

#endif

}  // namespace

Keeps gpu_keeps(std::string const& dev) {
  Keeps keeps;
  std::error_code none;
  for (auto const& folder : {dev, dev + "/dri"})
    for (std::filesystem::directory_iterator entry(folder, none), end; !none && entry != end;
         entry.increment(none)) {
      auto const name = entry->path().filename().string();
      if (entry->is_character_file(none) &&
          (name.starts_with("nvidia") || name.starts_with("renderD") || name == "kfd"))
        keeps.devices.push_back(entry->path().string());
    }
  std::set<std::string> folders{
      "/proc/driver/nvidia", "/sys/bus/pci/devices", "/sys/class/kfd", "/sys/devices/virtual/kfd"};
  // Those of /sys that list devices hold links; Landlock asks where a file really lies.
  for (auto const& device : keeps.devices) {
    struct stat about {};

    if (::stat(device.c_str(), &about) != 0) continue;
    auto const link =
        cat("/sys/dev/char/", major(about.st_rdev), ":", minor(about.st_rdev), "/device");
    auto const place = std::filesystem::canonical(link, none);
    if (!none) folders.insert(place.string());
  }
  ::dl_iterate_phdr(note_folder, &folders);
  keeps.folders.assign(folders.begin(), folders.end());
  return keeps;
}

bool keep_from_writing(Keeps const& keeps) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_files(keeps, false);
}

std::string enter_sandbox(Keeps const& keeps) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return cat("none: ", std::strerror(errno));
  bool const files = restrict_files(keeps, true);
  bool const calls = restrict_calls(files && !keeps.devices.empty());
  if (calls && files) return "seccomp landlock";
  if (calls) return "seccomp";
  return files ? "landlock" : cat("none: ", std::strerror(errno));
}

}  // namespace waggle::worker
