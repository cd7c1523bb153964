// SPDX-License-Identifier: MIT
#include "installer/launcher/tar.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.hpp"

namespace waggle::launcher {
namespace {

/// Larger: a damaged tar makes more files than anybody wants. Smaller: licences would not fit.
constexpr std::uint64_t kMaxEntries = 8192;

// Fields of a ustar header (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr std::size_t kName = 0, kNameSize = 100, kMode = 100, kSize = 124, kChecksum = 148,
                      kType = 156, kLink = 157, kMagic = 257, kPrefix = 345, kPrefixSize = 155;

std::string_view field(std::array<char, 512> const& block, std::size_t at, std::size_t size) {
  std::string_view const text(block.data() + at, size);
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> octal(std::array<char, 512> const& block,
                                   std::size_t at,
                                   std::size_t size) {
  std::uint64_t value = 0;
  bool any = false;
  for (auto const c : field(block, at, size)) {
    if (c == ' ' && any) break;
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

bool checksum_holds(std::array<char, 512> const& block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    sum += i >= kChecksum && i < kChecksum + 8 ? ' ' : static_cast<unsigned char>(block[i]);
  return octal(block, kChecksum, 8) == sum;
}

Error system_error(std::string_view name) {
  return Error{Errc::io, cat("writing ", name, ": ", std::strerror(errno))};
}

/// Opens the folder that `name` lies in, part by part, following no link; `leaf` is the rest.
Result<Fd> open_folder_of(int root, std::string_view name, std::string& leaf) {
  Fd folder(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (auto slash = name.find('/'); folder && slash != std::string_view::npos;
       slash = name.find('/')) {
    std::string const part(name.substr(0, slash));
    folder =
        Fd(::openat(folder.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    name.remove_prefix(slash + 1);
  }
  if (!folder) return system_error(name);
  leaf = name;
  return folder;
}

}  // namespace

bool is_plain_path(std::string_view name) noexcept {
  for (;;) {
    auto const slash = name.find('/');
    auto const part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

bool link_stays_inside(std::string_view name, std::string_view target) noexcept {
  if (target.empty() || target.front() == '/') return false;
  auto depth = std::ranges::count(name, '/');
  for (;;) {
    auto const slash = target.find('/');
    auto const part = target.substr(0, slash);
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    if (depth < 0) return false;
    if (slash == std::string_view::npos) return true;
    target.remove_prefix(slash + 1);
  }
}

Status TarWriter::feed(std::span<char const> bytes) {
  if (bytes.size() > limit_ - std::min(limit_, fed_))
    return Error{Errc::too_large, cat("a tar of more than ", limit_, " bytes")};
  fed_ += bytes.size();
  while (!bytes.empty()) {
    if (content_ > 0) {
      auto const part = bytes.first(std::min<std::uint64_t>(content_, bytes.size()));
      WAGGLE_TRY_STATUS(write_content(part));
      bytes = bytes.subspan(part.size());
      continue;
    }
    if (padding_ > 0) {
      auto const skipped = std::min<std::uint64_t>(padding_, bytes.size());
      padding_ -= skipped;
      bytes = bytes.subspan(skipped);
      continue;
    }
    auto const part = bytes.first(std::min(block_.size() - collected_, bytes.size()));
    std::ranges::copy(part, block_.begin() + static_cast<std::ptrdiff_t>(collected_));
    collected_ += part.size();
    bytes = bytes.subspan(part.size());
    if (collected_ == block_.size()) {
      collected_ = 0;
      WAGGLE_TRY_STATUS(begin_entry());
    }
  }
  return ok();
}

Status TarWriter::begin_entry() {
  if (std::ranges::all_of(block_, [](char c) { return c == '\0'; })) {
    ended_ = true;
    return ok();
  }
  auto const prefix = field(block_, kPrefix, kPrefixSize);
  auto const name = field(block_, kName, kNameSize);
  name_ = prefix.empty() ? std::string(name) : cat(prefix, '/', name);
  while (name_.ends_with('/')) name_.pop_back();
  if (name_.starts_with("./")) name_.erase(0, 2);
  if (ended_ || !checksum_holds(block_) || field(block_, kMagic, 5) != "ustar")
    return Error{Errc::malformed, cat("no tar header where ", name_, " should begin")};
  char const type = block_[kType];
  if (type == '5' && (name_.empty() || name_ == ".")) return ok();  // the root itself
  if (!is_plain_path(name_)) return Error{Errc::malformed, cat("a file named ", name_)};
  if (++entries_ > kMaxEntries)
    return Error{Errc::too_large, cat("a tar of more than ", kMaxEntries, " files")};
  auto const mode = octal(block_, kMode, 8);
  auto const size = octal(block_, kSize, 12);
  if (!mode || !size) return Error{Errc::malformed, cat("sizes of ", name_)};

  std::string leaf;
  WAGGLE_TRY(auto const folder, open_folder_of(root_, name_, leaf));
  if (type == '5') {
    if (::mkdirat(folder.get(), leaf.c_str(), 0700) != 0) return system_error(name_);
    return ok();
  }
  if (type == '2') {
    std::string const target(field(block_, kLink, kNameSize));
    if (!link_stays_inside(name_, target))
      return Error{Errc::malformed, cat("a link from ", name_, " to ", target)};
    if (::symlinkat(target.c_str(), folder.get(), leaf.c_str()) != 0) return system_error(name_);
    return ok();
  }
  if (type != '0') return Error{Errc::malformed, cat("an entry of type ", type, ": ", name_)};
  file_ = Fd(::openat(folder.get(),
                      leaf.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      (*mode & 0100) != 0 ? 0700 : 0600));
  if (!file_) return system_error(name_);
  content_ = *size;
  padding_ = (512 - *size % 512) % 512;
  if (content_ == 0) file_.reset();
  return ok();
}

Status TarWriter::write_content(std::span<char const> bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_error(name_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    content_ -= static_cast<std::uint64_t>(written);
  }
  if (content_ == 0) file_.reset();
  return ok();
}

Status TarWriter::finish() const {
  if (!ended_) return Error{Errc::malformed, cat("the tar ends within ", name_)};
  return ok();
}

}  // namespace waggle::launcher
