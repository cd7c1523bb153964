// SPDX-License-Identifier: MIT
#include "core/averaging/reducer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

Reducer::Reducer(std::vector<std::size_t> numels, std::size_t senders) : banned_(senders) {
  for (auto const numel : numels)
    parts_.push_back({numel, {}, 0, false, std::vector<bool>(senders)});
}

Status Reducer::add(std::size_t part,
                    compress::CompressionType codec,
                    ByteView buffer,
                    double weight) {
  auto& p = parts_[part];
  p.sum.resize(p.numel);
  return compress::decode_accumulate(codec, buffer, static_cast<float>(weight), p.sum);
}

void Reducer::add_own(std::size_t part, std::span<float const> values, double weight) {
  auto& p = parts_[part];
  WAGGLE_ASSERT(values.size() == p.numel);
  p.sum.resize(p.numel);
  auto const w = static_cast<float>(weight);
  if (w == 0) return;
  auto* const sum = p.sum.data();
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += w * values[i];
}

void Reducer::counted(std::size_t part, std::size_t sender, double weight) {
  parts_[part].from[sender] = true;
  parts_[part].weight += weight;
}

std::vector<std::size_t> Reducer::missing() const {
  std::vector<std::size_t> senders;
  if (done()) return senders;
  for (std::size_t s = 0; s < banned_.size(); ++s)
    if (!banned_[s] && !parts_[frontier_].from[s]) senders.push_back(s);
  return senders;
}

bool Reducer::ready() const {
  return !done() && missing().empty();
}

void Reducer::finish(std::size_t part) {
  auto& p = parts_[part];
  p.sum.resize(p.numel);
  if (!(p.weight > 0)) return;
  auto const scale = static_cast<float>(1.0 / p.weight);
  // Dividing rather than multiplying keeps the mean of equal values equal to them.
  if (std::isfinite(scale) && p.weight <= 3e38) {
    auto const weight = static_cast<float>(p.weight);
    for (auto& value : p.sum) value /= weight;
  } else {
    for (auto& value : p.sum) value = static_cast<float>(value / p.weight);
  }
  p.averaged = compress::all_finite(p.sum);
}

std::span<float const> Reducer::average(std::size_t part) const noexcept {
  return parts_[part].averaged ? std::span<float const>(parts_[part].sum)
                               : std::span<float const>();
}

namespace {

// sent = mean − sent in one pass over memory, block by block so that the check for overflow finds
// it in the cache. `sent` may lie at any address.
Status subtract_from(std::span<float const> mean, MutableBytes sent) {
  if (sent.size() != mean.size_bytes())
    return Error{Errc::malformed,
                 cat("a part of ", sent.size(), " bytes, not ", mean.size_bytes())};
  std::array<float, 1024> block;
  for (std::size_t at = 0; at < mean.size(); at += block.size()) {
    auto const n = std::min(block.size(), mean.size() - at);
    auto* const where = sent.data() + at * sizeof(float);
    for (std::size_t i = 0; i < n; ++i)
      block[i] = mean[at + i] - load_le<float>(ByteView(where + i * sizeof(float), sizeof(float)));
    if (!compress::all_finite(std::span(block).first(n)))
      return Error{Errc::invalid, "a difference overflows"};
    std::memcpy(where, block.data(), n * sizeof(float));
  }
  return ok();
}

}  // namespace

Status Reducer::reply_in_place(std::size_t part, MutableBytes sent) const {
  auto const& p = parts_[part];
  if (p.averaged) return subtract_from(p.sum, sent);
  std::fill(sent.begin(), sent.end(), std::byte{0});
  return ok();
}

Status Reducer::reply(std::size_t part,
                      compress::CompressionType codec,
                      ByteView sent,
                      Bytes& out) const {
  auto const& p = parts_[part];
  if (p.averaged && codec == compress::CompressionType::none) {
    out.assign(sent.begin(), sent.end());
    return subtract_from(p.sum, out);
  }
  // Kept by the thread: fresh pages for every part would cost more than the work.
  static thread_local std::vector<float> difference;
  difference.resize(p.numel);
  if (!p.averaged) {
    std::fill(difference.begin(), difference.end(), 0.0F);
  } else {
    WAGGLE_TRY_STATUS(compress::decode(codec, sent, difference));
    for (std::size_t i = 0; i < p.numel; ++i) difference[i] = p.sum[i] - difference[i];
  }
  return compress::encode(codec, difference, out);
}

}  // namespace waggle::averaging
