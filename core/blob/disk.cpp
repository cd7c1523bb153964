// SPDX-License-Identifier: MIT
#include "core/blob/disk.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

namespace waggle::blob {
namespace {

constexpr std::string_view kDraftName = ".adding-";

std::uint64_t free_bytes(std::filesystem::path const& folder) {
  std::error_code failed;
  auto const space = std::filesystem::space(folder, failed);
  return failed ? 0 : space.available;
}

Error failed(char const* what, std::filesystem::path const& path, std::uint64_t need) {
  int const code = errno;
  if (code == ENOSPC || code == EDQUOT)
    return Error{Errc::too_large,
                 cat("disk full: ",
                     path.string(),
                     " needs ",
                     need,
                     " bytes, ",
                     free_bytes(path.parent_path()),
                     " are free")};
  auto const kind = code == ENOENT ? Errc::not_found : Errc::io;
  return Error{kind, cat("cannot ", what, " ", path.string(), ": ", std::strerror(code))};
}

Status make_folder(std::filesystem::path const& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!code) return ok();
  errno = code.value();
  return failed("make", folder, 1);
}

Status write_at(std::filesystem::path const& path, std::uint64_t offset, ByteView bytes) {
  WAGGLE_TRY_STATUS(make_folder(path.parent_path()));
  Fd const fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return failed("open", path, bytes.size());
  auto const need = bytes.size();
  while (!bytes.empty()) {
    auto const n = ::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path, need);
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

/// Reads into `out`; false at an end before it is full.
Result<bool> fill(int fd,
                  std::uint64_t offset,
                  MutableBytes out,
                  std::filesystem::path const& path) {
  while (!out.empty()) {
    auto const n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read", path, 0);
    if (n == 0) return false;
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<Bytes> read_range(std::filesystem::path const& path,
                         std::uint64_t offset,
                         std::size_t size) {
  Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failed("open", path, 0);
  Bytes out(size);
  WAGGLE_TRY(bool const whole, fill(fd.get(), offset, out, path));
  if (!whole) return Error{Errc::io, cat(path.string(), " became shorter while it was read")};
  return out;
}

std::filesystem::path Disk::path_of(BlobId const& id) const {
  auto const text = id.text();
  return folder_ / text.substr(0, 2) / text;
}

Status Disk::write(BlobId const& id, std::size_t chunk, ByteView bytes) const {
  return write_at(path_of(id), std::uint64_t{chunk} * kChunkBytes, bytes);
}

Result<Bytes> Disk::read(BlobId const& id,
                         std::size_t chunk,
                         std::size_t size,
                         crypto::Sha256 const& hash) const {
  auto const path = path_of(id);
  Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed("open", path, 0);
  Bytes out(size);
  WAGGLE_TRY(bool const whole, fill(fd.get(), std::uint64_t{chunk} * kChunkBytes, out, path));
  if (!whole || crypto::sha256(out) != hash)
    return Error{Errc::malformed, cat(path.string(), ": chunk ", chunk, " is torn")};
  return out;
}

std::vector<bool> Disk::verify(BlobId const& id,
                               Manifest const& manifest,
                               std::vector<bool> const& claimed) const {
  std::vector<bool> whole(manifest.chunks.size(), false);
  auto const path = path_of(id);
  Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return whole;
  Bytes buffer(kChunkBytes);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i >= claimed.size() || !claimed[i]) continue;
    auto const chunk = MutableBytes(buffer).first(manifest.chunk_size(i));
    auto const there = fill(fd.get(), std::uint64_t{i} * kChunkBytes, chunk, path);
    whole[i] = there && *there && crypto::sha256(chunk) == manifest.chunks[i];
  }
  return whole;
}

Status Disk::finish(BlobId const& id, std::uint64_t size) const {
  auto const path = path_of(id);
  WAGGLE_TRY_STATUS(make_folder(path.parent_path()));
  Fd const fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return failed("open", path, 0);
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return failed("cut", path, 0);
  if (::fsync(fd.get()) != 0) return failed("flush", path, size);
  return ok();
}

bool Disk::remove(BlobId const& id) const noexcept {
  return ::unlink(path_of(id).c_str()) == 0;
}

void Disk::touch(BlobId const& id) const noexcept {
  ::utimensat(AT_FDCWD, path_of(id).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::int64_t Disk::last_used(BlobId const& id) const noexcept {
  struct stat info {};

  if (::lstat(path_of(id).c_str(), &info) != 0) return 0;
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

Status Disk::room_for(std::uint64_t need) const {
  WAGGLE_TRY_STATUS(make_folder(folder_));
  auto const have = free_bytes(folder_);
  if (have >= need) return ok();
  return Error{
      Errc::too_large,
      cat("disk full: ", folder_.string(), " needs ", need, " bytes, ", have, " are free")};
}

std::filesystem::path Disk::draft(std::uint64_t tag) const {
  return folder_ / cat(kDraftName, tag);
}

Status Disk::append(std::filesystem::path const& draft,
                    std::uint64_t offset,
                    ByteView bytes) const {
  return write_at(draft, offset, bytes);
}

Status Disk::adopt(std::filesystem::path const& draft, BlobId const& id) const {
  auto const path = path_of(id);
  WAGGLE_TRY_STATUS(make_folder(path.parent_path()));
  {
    Fd const fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd || ::fsync(fd.get()) != 0) return failed("flush", draft, 0);
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) return failed("rename to", path, 0);
  return ok();
}

void Disk::sweep() const noexcept {
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder_, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with(kDraftName))
      std::filesystem::remove(at->path(), ignored);
  }
}

}  // namespace waggle::blob
