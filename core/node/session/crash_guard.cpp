// SPDX-License-Identifier: MIT
#include "core/node/session/crash_guard.hpp"

#include <string_view>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace waggle::node {
namespace {

// Of the error: a trainer's last words may be a page.
constexpr std::size_t kMostWords = 300;

std::string one_line(std::string_view text) {
  std::string line;
  for (char const c : text) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (line.size() <= kMostWords) return line;
  line.resize(utf8_prefix(line, kMostWords).size());
  return line + " …";
}

}  // namespace

bool CrashGuard::may_pass(Error const& why) noexcept {
  return why.code == Errc::closed || why.code == Errc::timeout || why.code == Errc::io ||
         why.code == Errc::too_large;
}

bool CrashGuard::failed() noexcept {
  if (++failures_ < kMost) return false;
  failures_ = 0;
  return true;
}

std::string crash_reason(Error const& last) {
  return cat("the trainer failed ",
             CrashGuard::kMost,
             " times in a row: ",
             one_line(last.detail),
             last.code == Errc::too_large ? "; it needs more memory than max_memory (on a GPU, "
                                            "max_gpu_memory), or this computer, allows"
                                          : "");
}

}  // namespace waggle::node
