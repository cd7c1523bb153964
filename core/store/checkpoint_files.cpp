// SPDX-License-Identifier: MIT
#include "core/store/checkpoint_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/store/detail/database.hpp"

namespace waggle::store {
namespace {

constexpr std::string_view kSuffix = ".checkpoint";

Error failed(char const* what, std::filesystem::path const& path, std::uint64_t need) {
  int const code = errno;
  if (code == ENOSPC || code == EDQUOT) return detail::disk_full(path, need);
  return Error{Errc::io, cat("cannot ", what, " ", path.string(), ": ", std::strerror(code))};
}

Status flush_folder(std::filesystem::path const& folder) {
  Fd const dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir || ::fsync(dir.get()) != 0) return failed("flush", folder, 0);
  return ok();
}

/// A file name that stays in its folder.
bool is_plain(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// Writes `content` to `fd`. The path is for the error.
Status write_all(int fd, ByteView content, std::filesystem::path const& path) {
  auto const size = content.size();
  while (!content.empty()) {
    auto const n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path, size);
    content = content.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

}  // namespace

CheckpointFiles::CheckpointFiles(Store& store, std::filesystem::path folder, Digest digest)
    : store_(store), folder_(std::move(folder)), digest_(std::move(digest)) {
}

std::string CheckpointFiles::stem(ByteView operator_id, std::string_view prefix) const {
  // The end of a PeerID is its random part; the prefix is [a-z0-9_-]. The dot ends the prefix,
  // which has none.
  auto const tail = operator_id.last(std::min<std::size_t>(operator_id.size(), 8));
  return cat(prefix, ".", to_hex(tail), ".");
}

Result<std::string> CheckpointFiles::digest_of(std::filesystem::path const& path) const {
  Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed("open", path, 0);

  struct stat info {};

  if (::fstat(fd.get(), &info) != 0) return failed("stat", path, 0);
  if (!S_ISREG(info.st_mode)) return Error{Errc::io, cat(path.string(), " is not a regular file")};
  auto const size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return digest_({});
  void* const map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (map == MAP_FAILED) return failed("read", path, 0);
  auto text = digest_(ByteView(static_cast<std::byte const*>(map), size));
  ::munmap(map, size);
  return text;
}

Result<CheckpointNote> CheckpointFiles::save(ByteView operator_id,
                                             std::string_view prefix,
                                             std::int64_t epoch,
                                             double time,
                                             std::uint64_t need,
                                             Writer const& write) {
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code) {
    errno = code.value();
    return failed("make", folder_, need);
  }
  CheckpointNote note;
  note.epoch = epoch;
  note.time = time;
  note.file = cat(stem(operator_id, prefix), epoch, kSuffix);
  if (!is_plain(note.file)) return Error{Errc::invalid, cat("checkpoint name \"", note.file, "\"")};
  auto const path = folder_ / note.file;
  auto const space = std::filesystem::space(folder_, code);
  if (!code && space.available < need) return detail::disk_full(path, need);

  auto temporary = path;
  temporary += ".tmp";
  auto make = [&]() -> Status {
    Fd const fd(
        ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return failed("create", temporary, need);
    WAGGLE_TRY_STATUS(write(fd.get()));
    if (::fsync(fd.get()) != 0) return failed("flush", temporary, need);
    WAGGLE_TRY(note.sha256, digest_of(temporary));
    if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename to", path, need);
    return flush_folder(folder_);
  };
  if (auto made = make(); !made) {
    ::unlink(temporary.c_str());
    return std::move(made).error();
  }
  WAGGLE_TRY_STATUS(store_.put_checkpoint(operator_id, prefix, note));

  WAGGLE_TRY(auto const all, store_.checkpoints(operator_id, prefix));
  // An epoch above ours can stand there after a roll-back; it would hide this newer state for ever.
  std::size_t kept = 1;
  for (auto const& old : all) {
    if (old.file == note.file) continue;
    if (old.epoch <= epoch && kept < kKept) {
      ++kept;
      continue;
    }
    WAGGLE_TRY_STATUS(store_.remove_checkpoint(operator_id, prefix, old.file));
    if (is_plain(old.file)) ::unlink((folder_ / old.file).c_str());
  }
  return note;
}

Result<CheckpointNote> CheckpointFiles::save(ByteView operator_id,
                                             std::string_view prefix,
                                             std::int64_t epoch,
                                             double time,
                                             ByteView content) {
  auto const path = folder_ / stem(operator_id, prefix);
  Writer const write = [&](int fd) { return write_all(fd, content, path); };
  return save(operator_id, prefix, epoch, time, content.size(), write);
}

Result<CheckpointFiles::Loaded> CheckpointFiles::newest(ByteView operator_id,
                                                        std::string_view prefix) {
  WAGGLE_TRY(auto const all, store_.checkpoints(operator_id, prefix));
  std::string damaged;
  for (auto const& note : all) {
    auto const path = folder_ / note.file;
    if (is_plain(note.file)) {
      auto const found = digest_of(path);
      if (found && *found == note.sha256) return Loaded{note, path, damaged};
      damaged += cat(damaged.empty() ? "" : "; ",
                     found ? cat(path.string(), " is damaged") : found.error().detail);
    }
    WAGGLE_TRY_STATUS(store_.remove_checkpoint(operator_id, prefix, note.file));
    if (is_plain(note.file)) ::unlink(path.c_str());
  }
  return Error{Errc::not_found,
               cat("no checkpoint of ", prefix, damaged.empty() ? "" : ": ", damaged)};
}

Result<std::uint64_t> CheckpointFiles::remove(ByteView operator_id, std::string_view prefix) {
  WAGGLE_TRY(auto const all, store_.checkpoints(operator_id, prefix));
  std::uint64_t freed = 0;
  for (auto const& note : all) {
    WAGGLE_TRY_STATUS(store_.remove_checkpoint(operator_id, prefix, note.file));
    if (!is_plain(note.file)) continue;
    std::error_code code;
    auto const size = std::filesystem::file_size(folder_ / note.file, code);
    if (!code && ::unlink((folder_ / note.file).c_str()) == 0) freed += size;
  }
  sweep(operator_id, prefix);
  return freed;
}

std::size_t CheckpointFiles::sweep(ByteView operator_id, std::string_view prefix) {
  auto const known = store_.checkpoints(operator_id, prefix);
  if (!known) return 0;
  auto const ours = stem(operator_id, prefix);
  std::vector<std::filesystem::path> orphans;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder_, code), end; !code && at != end;
       at.increment(code)) {
    auto const name = at->path().filename().string();
    if (!name.starts_with(ours)) continue;
    bool const named = std::any_of(
        known->begin(), known->end(), [&](auto const& note) { return note.file == name; });
    if (!named) orphans.push_back(at->path());
  }
  std::size_t removed = 0;
  for (auto const& path : orphans) removed += std::filesystem::remove(path, code) ? 1 : 0;
  return removed;
}

}  // namespace waggle::store
