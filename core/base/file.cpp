// SPDX-License-Identifier: MIT
#include "core/base/file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

namespace waggle {
namespace {

Error failed(char const* what, std::filesystem::path const& path) {
  int const code = errno;
  return Error{code == ENOENT ? Errc::not_found : Errc::io,
               cat("cannot ", what, " ", path.string(), ": ", std::strerror(code))};
}

Status write_all(int fd, ByteView content, std::filesystem::path const& path) {
  while (!content.empty()) {
    auto const n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path);
    content = content.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

}  // namespace

Result<Bytes> read_file(std::filesystem::path const& path, std::uint64_t limit) {
  Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failed("open", path);

  struct stat info {};

  if (::fstat(fd.get(), &info) != 0) return failed("stat", path);
  if (!S_ISREG(info.st_mode)) return Error{Errc::io, cat(path.string(), " is not a regular file")};
  auto const size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit)
    return Error{Errc::too_large,
                 cat(path.string(), " holds ", size, " bytes, at most ", limit, " are read")};
  Bytes content(size);
  std::size_t done = 0;
  while (done < content.size()) {
    auto const n = ::read(fd.get(), content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read", path);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  content.resize(done);
  return content;
}

Status write_file(std::filesystem::path const& path, ByteView content, FileMode mode) {
  auto temporary = path;
  temporary += cat(".", ::getpid(), ".tmp");
  Fd fd(::open(temporary.c_str(),
               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
               static_cast<mode_t>(mode)));
  if (!fd) return failed("create", temporary);
  auto written = write_all(fd.get(), content, temporary);
  if (written && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0)
    written = failed("set the mode of", temporary);
  if (written && ::fsync(fd.get()) != 0) written = failed("flush", temporary);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = failed("rename to", path);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  auto const folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  Fd const dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir || ::fsync(dir.get()) != 0) return failed("flush", folder);
  return ok();
}

}  // namespace waggle
