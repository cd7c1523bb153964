// SPDX-License-Identifier: MIT
#include "core/node/session/gpu_watch.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMostWords = 300;

// The first line: torch adds advice for programmers below.
std::string first_line(std::string const& text) {
  std::string line;
  for (char const c : text.substr(0, text.find('\n')))
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (line.size() <= kMostWords) return line;
  return cat(utf8_prefix(line, kMostWords), " …");
}

std::string loss(GpuState const& state, std::vector<std::string> const& missing, bool worked) {
  auto text = cat(worked ? "the GPU was lost" : "the trainer could use a GPU, but does not",
                  ": ",
                  state.trouble.empty() ? "no reason is known" : first_line(state.trouble),
                  "; it trains on the processor");
  if (!state.can_pass)
    return cat(text,
               ". Another try does not help: start a Linux kernel from 5.13 on with Landlock, and "
               "Waggle again");
  constexpr auto kMinutes =
      std::chrono::duration_cast<std::chrono::minutes>(GpuWatch::kRetry).count();
  if (missing.empty())
    return cat(text,
               ". No file of NVIDIA's driver is missing: if it was updated, restart the computer. "
               "It is tried again ",
               worked ? "every " : "in ",
               kMinutes,
               worked ? " minutes" : " minutes, then more seldom");
  text += ". Missing of NVIDIA's driver: ";
  for (auto const& file : missing) text += cat(&file == &missing.front() ? "" : ", ", file);
  return cat(text,
             worked ? "; it is tried again every " : "; once they are there, it is tried within ",
             kMinutes,
             " minutes");
}

}  // namespace

bool GpuWatch::asks(GpuState const& state, TimePoint now) const noexcept {
  return state.can && !state.works && state.can_pass && (!retry_ || now >= *retry_);
}

GpuWatch::Advice GpuWatch::look(GpuState const& state,
                                std::vector<std::string> const& missing,
                                TimePoint now) {
  Advice advice;
  if (!state.can) return advice;
  if (state.works) {
    worked_ = true;
    pause_ = kRetry;
    if (retry_) advice.notice = "the GPU works again; it trains on it";
    retry_.reset();
    if (state.trouble != said_) {
      said_ = state.trouble;
      if (!said_.empty()) advice.notice = first_line(said_);
    }
    return advice;
  }
  if (!state.can_pass && state.trouble != said_) {
    said_ = state.trouble;
    advice.notice = loss(state, {}, worked_);
  }
  if (!asks(state, now)) return advice;
  if (!retry_)
    advice.notice = loss(state, missing, worked_);
  else
    advice.try_again = worked_ || missing.empty();
  retry_ = now + pause_;
  if (advice.try_again && !worked_) pause_ = std::min<Duration>(2 * pause_, kMostSeldom);
  return advice;
}

}  // namespace waggle::node
