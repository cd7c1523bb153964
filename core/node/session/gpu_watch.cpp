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

// Rounded up: who sets a limit of so much has enough.
std::uint64_t mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  return bytes / kMebibyte + (bytes % kMebibyte != 0 ? 1 : 0);
}

device::GpuMaker other(device::GpuMaker maker) {
  return maker == device::GpuMaker::amd ? device::GpuMaker::nvidia : device::GpuMaker::amd;
}

char const* name_of(device::GpuMaker maker) {
  return maker == device::GpuMaker::amd ? "AMD" : "NVIDIA";
}

std::string retries(bool worked) {
  constexpr auto kMinutes =
      std::chrono::duration_cast<std::chrono::minutes>(GpuWatch::kRetry).count();
  if (worked) return cat("every ", kMinutes, " minutes");
  return cat("in ", kMinutes, " minutes, then more seldom");
}

// That a limit alone is to blame: it stays until a person sets another. Where the weights fit, the
// card may be full of others' as well.
bool limited(GpuState const& state) {
  return state.shortage && state.shortage->limit != 0 &&
         state.shortage->least > state.shortage->limit;
}

std::string shortage(worker::GpuShortage const& s, bool by_limit, bool worked) {
  auto const needs = cat(" is too small for this model, whose weights and gradients alone take ",
                         mebibytes(s.least),
                         " MiB; it trains on the processor. ");
  auto const again = cat("It is tried again ", retries(worked));
  if (s.limit == 0)
    return cat("the GPU's memory", needs, "Other programs may hold some of it, too. ", again);
  auto const limit = cat("max_gpu_memory of ", s.limit >> 20, " MiB");
  if (by_limit)
    return cat(limit, needs, "Raise max_gpu_memory, set it to 0 for no limit, or leave it so");
  return cat(limit,
             ", or what other programs leave of the GPU's memory,",
             needs,
             "Raise max_gpu_memory, or set it to 0 for no limit. ",
             again);
}

std::string loss(GpuState const& state, GpuDriver const& driver, bool worked) {
  if (state.shortage) return shortage(*state.shortage, limited(state), worked);
  auto text = cat(worked ? "the GPU was lost" : "the trainer could use a GPU, but does not",
                  ": ",
                  state.trouble.empty() ? "no reason is known" : first_line(state.trouble),
                  "; it trains on the processor");
  if (!state.can_pass)
    return cat(text,
               ". Another try does not help: start a Linux kernel from 5.13 on with Landlock, and "
               "Waggle again");
  auto const* const maker = name_of(driver.maker);
  if (driver.other_card)
    return cat(text,
               ". Its engine is for cards of ",
               maker,
               ", and this computer's is of ",
               name_of(other(driver.maker)),
               ": choose a trainer that was built for that");
  if (driver.missing.empty())
    return cat(text,
               ". No file of ",
               maker,
               "'s driver is missing: if it was updated, restart the computer. It is tried again ",
               retries(worked));
  text += cat(". Missing of ", maker, "'s driver: ");
  for (auto const& file : driver.missing)
    text += cat(&file == &driver.missing.front() ? "" : ", ", file);
  constexpr auto kMinutes =
      std::chrono::duration_cast<std::chrono::minutes>(GpuWatch::kRetry).count();
  return cat(text,
             worked ? "; it is tried again every " : "; once they are there, it is tried within ",
             kMinutes,
             " minutes");
}

}  // namespace

bool GpuWatch::asks(GpuState const& state, TimePoint now) const noexcept {
  return state.can && !state.works && state.can_pass && !limited(state) &&
         (!retry_ || now >= *retry_);
}

GpuWatch::Advice GpuWatch::look(GpuState const& state, GpuDriver const& driver, TimePoint now) {
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
  if ((!state.can_pass || limited(state)) && state.trouble != said_) {
    said_ = state.trouble;
    advice.notice = loss(state, {}, worked_);
  }
  if (!asks(state, now)) return advice;
  if (!retry_)
    advice.notice = loss(state, driver, worked_);
  else
    advice.try_again = worked_ || driver.missing.empty();
  retry_ = now + pause_;
  if (advice.try_again && !worked_) pause_ = std::min<Duration>(2 * pause_, kMostSeldom);
  return advice;
}

}  // namespace waggle::node
