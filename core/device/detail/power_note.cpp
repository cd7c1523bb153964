// SPDX-License-Identifier: MIT
#include "core/device/detail/power_note.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/text.hpp"
#include "core/device/detail/text_file.hpp"

namespace waggle::device::detail {
namespace {

constexpr std::int64_t kMostMilliwatts = 100'000'000;
constexpr std::string_view kPrefix = "waggle-gpu-power-";  // and the card's address
constexpr std::size_t kMostFiles = 4096;

bool is_note(std::string_view name) {
  return name.starts_with(kPrefix);
}

// Not there: another process holds it, or it cannot be opened.
Fd lock(std::filesystem::path const& file, int flags) {
  Fd fd(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

}  // namespace

std::optional<LoweredLimit> LoweredLimit::parse(std::string_view text) {
  auto const space = text.find(' ');
  if (space == text.npos) return {};
  auto const wanted = whole_number(text.substr(0, space));
  auto const former = whole_number(text.substr(space + 1));
  if (!wanted || !former || *wanted <= 0 || *former <= *wanted) return {};
  if (*former > kMostMilliwatts) return {};
  return LoweredLimit{static_cast<unsigned>(*wanted), static_cast<unsigned>(*former)};
}

PowerNote PowerNote::create(std::filesystem::path const& folder, std::string_view address) {
  PowerNote note;
  note.file_ = folder / cat(kPrefix, address);
  note.locked_ = lock(note.file_, O_RDWR | O_CREAT);
  return note;
}

std::string PowerNote::address() const {
  return file_.filename().string().substr(kPrefix.size());
}

std::optional<LoweredLimit> PowerNote::read() const {
  return LoweredLimit::parse(read_small(file_));
}

bool PowerNote::write(LoweredLimit const& limit) const {
  auto const text = cat(limit.wanted, " ", limit.former, "\n");
  return locked_ && ::ftruncate(locked_.get(), 0) == 0 &&
         ::pwrite(locked_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

void PowerNote::remove() {
  std::error_code gone;
  if (locked_) std::filesystem::remove(file_, gone);
  locked_.reset();
}

std::vector<PowerNote> left_notes(std::filesystem::path const& folder) {
  std::vector<PowerNote> notes;
  for (auto const& name : names_in(folder, kMostFiles)) {
    if (!is_note(name)) continue;
    PowerNote note;
    note.file_ = folder / name;
    note.locked_ = lock(note.file_, O_RDWR);
    if (note) notes.push_back(std::move(note));  // else its process lives
  }
  return notes;
}

bool has_notes(std::filesystem::path const& folder) {
  return std::ranges::any_of(names_in(folder, kMostFiles), is_note);
}

}  // namespace waggle::device::detail
