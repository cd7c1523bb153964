// SPDX-License-Identifier: MIT
#include "installer/launcher/folder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/text.hpp"

namespace waggle::launcher {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t kSpare = 16 << 20;

Error refused(std::string why) {
  return Error{Errc::refused, std::move(why)};
}

std::string reason() {
  switch (errno) {
    case ELOOP:
      return "it is a symbolic link";
    case ENOTDIR:
      return "it is not a folder, or a symbolic link";
    case ENOENT:
      return "it does not exist";
    default:
      return std::strerror(errno);
  }
}

/// Who else may rename what lies in `parent` could swap our folder after it was checked.
Status check_parent(int parent) {
  struct stat facts {};

  if (::fstat(parent, &facts) != 0) return Error{Errc::io, std::strerror(errno)};
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid())
    return refused(cat("its parent folder belongs to user ", facts.st_uid));
  if ((facts.st_mode & 022) != 0 && (facts.st_mode & S_ISVTX) == 0)
    return refused("others may write to its parent folder");
  return ok();
}

Status check_exec(int folder) {
  struct statvfs facts {};

  if (::fstatvfs(folder, &facts) != 0) return Error{Errc::io, std::strerror(errno)};
  if ((facts.f_flag & ST_NOEXEC) != 0)
    return refused("programs may not run there (mounted noexec)");
  if ((facts.f_flag & ST_RDONLY) != 0) return refused("it is mounted read-only");
  return ok();
}

}  // namespace

Result<Fd> open_private(int parent, std::string const& name) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{Errc::io, std::strerror(errno)};
  Fd folder(::openat(parent, name.c_str(), kFolderFlags));
  if (!folder) return refused(reason());

  struct stat facts {};

  if (::fstat(folder.get(), &facts) != 0) return Error{Errc::io, std::strerror(errno)};
  if (facts.st_uid != ::geteuid()) return refused(cat("it belongs to user ", facts.st_uid));
  if ((facts.st_mode & 077) != 0 && ::fchmod(folder.get(), 0700) != 0)
    return refused("others may enter it, and that cannot be changed");
  return folder;
}

Result<Fd> open_place(Place const& place) {
  if (place.make_parent) ::mkdir(place.parent.c_str(), 0700);
  // The way to the parent is the user's or the system's own: links in it are followed.
  Fd const parent(::open(place.parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return refused(cat("cannot open ", place.parent, ": ", reason()));
  WAGGLE_TRY_STATUS(check_parent(parent.get()));
  WAGGLE_TRY_STATUS(check_exec(parent.get()));
  WAGGLE_TRY(Fd folder, open_private(parent.get(), place.name));
  WAGGLE_TRY_STATUS(check_exec(folder.get()));
  return folder;
}

Status check_space(int folder, std::uint64_t bytes) {
  struct statvfs facts {};

  if (::fstatvfs(folder, &facts) != 0) return Error{Errc::io, std::strerror(errno)};
  std::uint64_t const available = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
  if (available < bytes + kSpare)
    return refused(
        cat("it has ", available >> 20, " MiB free, ", (bytes + kSpare) >> 20, " MiB are needed"));
  return ok();
}

bool remove_tree(int parent, std::string const& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return true;
  Fd folder(::openat(parent, name.c_str(), kFolderFlags));
  if (!folder) return false;
  int const listed = ::dup(folder.get());
  DIR* const entries = listed < 0 ? nullptr : ::fdopendir(listed);
  if (entries == nullptr) {
    if (listed >= 0) ::close(listed);
    return false;
  }
  std::vector<std::string> names;
  while (auto const* const entry = ::readdir(entries))
    if (std::string found(entry->d_name); found != "." && found != "..")
      names.push_back(std::move(found));
  ::closedir(entries);
  bool all = true;
  for (auto const& found : names) all = remove_tree(folder.get(), found) && all;
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 && all;
}

std::string path_of(int folder, std::string otherwise) {
  std::array<char, 4096> buffer{};
  auto const link = cat("/proc/self/fd/", folder);
  auto const size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  if (size <= 0 || size >= static_cast<ssize_t>(buffer.size())) return otherwise;
  return {buffer.data(), static_cast<std::size_t>(size)};
}

}  // namespace waggle::launcher
