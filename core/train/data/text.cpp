// SPDX-License-Identifier: MIT
#include "core/train/data/text.hpp"

#include <algorithm>
#include <limits>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/train/random.hpp"

namespace waggle::train {
namespace {

constexpr std::size_t kMaxText = std::size_t{2} << 30;
constexpr std::uint64_t kWindow = 3;

void copy(ByteView from, std::size_t at, std::span<std::int64_t> out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::to_integer<std::int64_t>(from[at + i]);
}

}  // namespace

Result<TextStream> TextStream::make(
    Bytes train, Bytes test, DataConfig const& config, std::int64_t context, std::uint64_t seed) {
  if (train.size() > kMaxText || test.size() > kMaxText)
    return Error{Errc::too_large,
                 cat("text of ", std::max(train.size(), test.size()), " bytes, limit ", kMaxText)};
  TextStream out;
  out.context_ = static_cast<std::size_t>(context);
  out.seed_ = seed;
  if (test.empty()) {
    auto const held =
        static_cast<std::size_t>(static_cast<double>(train.size()) * config.test_fraction);
    test.assign(train.end() - static_cast<std::ptrdiff_t>(held), train.end());
    train.resize(train.size() - held);
  }
  auto const window = out.context_ + 1;
  if (train.size() < window || test.size() < window)
    return Error{Errc::invalid,
                 cat("text of ",
                     train.size(),
                     " bytes to train on and ",
                     test.size(),
                     " to test on, a window takes ",
                     window)};
  out.train_ = std::move(train);
  out.test_ = std::move(test);
  return out;
}

std::uint32_t TextStream::test_samples() const noexcept {
  auto const n = (test_.size() - 1) / context_;
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

void TextStream::draw(std::uint64_t position, std::span<std::int64_t> tokens) const {
  auto const window = context_ + 1;
  WAGGLE_ASSERT(tokens.size() % window == 0, tokens.size(), " ", window);
  for (std::size_t i = 0; i < tokens.size() / window; ++i) {
    Random random(seed_, kWindow, position + i);
    copy(train_, random.below(train_.size() - context_), tokens.subspan(i * window, window));
  }
}

void TextStream::take(std::uint32_t first, std::span<std::int64_t> tokens) const {
  auto const window = context_ + 1;
  WAGGLE_ASSERT(tokens.size() % window == 0, tokens.size(), " ", window);
  auto const count = tokens.size() / window;
  WAGGLE_ASSERT(first + count <= test_samples(), first, " + ", count);
  for (std::size_t i = 0; i < count; ++i)
    copy(test_, (first + i) * context_, tokens.subspan(i * window, window));
}

}  // namespace waggle::train
