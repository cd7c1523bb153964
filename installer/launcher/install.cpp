// SPDX-License-Identifier: MIT
#include "installer/launcher/install.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.hpp"

#include "installer/launcher/elf.hpp"
#include "installer/launcher/folder.hpp"
#include "installer/launcher/payload.hpp"

namespace waggle::launcher {
namespace {

constexpr char const* kLock = "lock";
constexpr char const* kUse = ".use";   // of a version: shared while it runs
constexpr char const* kNew = ".new-";  // being unpacked
constexpr char const* kOld = ".old-";  // being deleted
constexpr std::size_t kNameSize = 32;
constexpr unsigned kPatienceSteps = 3000;  // of 0.1 s: what unpacking takes on a very slow disk
constexpr unsigned kStepMicroseconds = 100'000;

Error io(std::string_view what) {
  return Error{Errc::io, cat(what, ": ", std::strerror(errno))};
}

/// An unpacked version, locked as used; none where it is not there. Errors: refused where something
/// else has its name.
Result<std::optional<Fd>> use_present(int folder, std::string const& name) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Fd const tree(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!tree && errno == ENOENT) return std::optional<Fd>();
    if (!tree) return Error{Errc::refused, cat(name, " is there and is no folder of ours")};
    // No O_CLOEXEC: the program that is started holds it on.
    Fd use(::openat(tree.get(), kUse, O_RDONLY | O_NOFOLLOW));
    if (!use) return Error{Errc::refused, cat(name, " was not unpacked by this program")};
    if (::flock(use.get(), LOCK_SH | LOCK_NB) != 0) continue;  // it is being deleted

    struct stat ours {
    }, named{};

    if (::fstat(tree.get(), &ours) == 0 &&
        ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
      return std::optional<Fd>(std::move(use));
  }
  return Error{Errc::timeout, cat(name, " is being deleted")};
}

Result<Fd> lock(int folder, std::function<void(std::string const&)> const& say) {
  Fd file(::openat(folder, kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return io("the lock");
  for (unsigned step = 0; step < kPatienceSteps; ++step) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    if (errno != EWOULDBLOCK && errno != EINTR) return io("the lock");
    if (step == 10) say("another copy of this program is unpacking; waiting for it");
    ::usleep(kStepMicroseconds);
  }
  return Error{Errc::timeout, "another copy of this program has been unpacking for minutes"};
}

Status set_loaders(int tree, std::string const& path) {
  for (auto const* const name : kOnOwnLoader) {
    Fd const program(::openat(tree, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!program) return io(name);
    WAGGLE_TRY_STATUS(set_interpreter(program.get(), cat(path, '/', kOwnLoader)));
  }
  return ok();
}

Status unpack(int folder, std::string const& path, int file, Trailer const& trailer) {
  auto const name = folder_name(trailer);
  auto const fresh = cat(kNew, name);
  WAGGLE_TRY_STATUS(check_space(folder, trailer.unpacked));
  WAGGLE_TRY_STATUS(verify_payload(file, trailer));
  WAGGLE_TRY(Fd const tree, open_private(folder, fresh));
  WAGGLE_TRY_STATUS(unpack_payload(file, trailer, tree.get()));
  WAGGLE_TRY_STATUS(set_loaders(tree.get(), cat(path, '/', name)));
  Fd const use(
      ::openat(tree.get(), kUse, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!use) return io(kUse);
  // After a power cut the folder must be whole or not there at all.
  if (::syncfs(tree.get()) != 0) return io("writing to the disk");
  if (::renameat(folder, fresh.c_str(), folder, name.c_str()) != 0) return io(name);
  ::fsync(folder);
  return ok();
}

/// Whether install() gives a folder such a name.
bool is_version(std::string_view name) {
  return name.size() == kNameSize && std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool used(int folder, std::string const& name, Fd& lock_on_it) {
  Fd const tree(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!tree) return true;  // not ours to judge
  lock_on_it = Fd(::openat(tree.get(), kUse, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return lock_on_it && ::flock(lock_on_it.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace

std::string folder_name(Trailer const& trailer) {
  return trailer.blake2b.substr(0, kNameSize);
}

void remove_others(int folder, std::string const& keep) {
  int const listed = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = listed < 0 ? nullptr : ::fdopendir(listed);
  if (entries == nullptr) return;
  std::vector<std::string> names;
  while (auto const* const entry = ::readdir(entries)) names.emplace_back(entry->d_name);
  ::closedir(entries);
  for (auto const& name : names) {
    if (name.starts_with(kNew) || name.starts_with(kOld)) {
      remove_tree(folder, name);
      continue;
    }
    Fd held;
    if (name == keep || !is_version(name) || used(folder, name, held)) continue;
    auto const old = cat(kOld, name);
    if (::renameat(folder, name.c_str(), folder, old.c_str()) == 0) remove_tree(folder, old);
  }
}

Result<Installed> install(int folder,
                          std::string const& path,
                          int file,
                          Trailer const& trailer,
                          std::function<void(std::string const&)> const& say) {
  auto const name = folder_name(trailer);
  Installed out;
  out.path = cat(path, '/', name);
  WAGGLE_TRY(auto present, use_present(folder, name));
  if (!present) {
    WAGGLE_TRY(Fd const locked, lock(folder, say));
    WAGGLE_TRY(present, use_present(folder, name));
    if (!present) {
      // Whoever holds the lock is the only one who unpacks: what is half done is nobody's.
      remove_tree(folder, cat(kNew, name));
      if (auto const done = unpack(folder, path, file, trailer); !done) {
        remove_tree(folder, cat(kNew, name));
        return done.error();
      }
      out.fresh = true;
      WAGGLE_TRY(present, use_present(folder, name));
      if (!present) return Error{Errc::io, cat(name, " vanished while it was unpacked")};
      remove_others(folder, name);
    }
  }
  out.use = std::move(*present);
  return out;
}

}  // namespace waggle::launcher
