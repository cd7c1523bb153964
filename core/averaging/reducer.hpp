// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compress/codec.hpp"

namespace waggle::averaging {

/// Averages the parts of the vector that fell to us. Pure: encoded parts in, averages and encoded
/// replies out.
///
///     sender k:  add(part, …) then counted(part, k, weight)      in part order, parts of several
///     senders interleaved then:      while (ready()) finish(frontier())              the next
///     part's sum becomes its mean then:      reply(part, …) for each sender                  mean
///     minus what that sender sent
///
/// A banned sender is no longer waited for; what it had submitted stays in the sums. A part whose
/// weights sum to 0, or whose mean is not finite, has no average: its replies say "no change"
/// (hivemind divides by zero there). Source: spec/hivemind-averaging.md section 4.4. Thread: the
/// network thread, except add, finish's work and reply, which may run elsewhere as long as nobody
/// else touches that part meanwhile.
class Reducer {
 public:
  /// `numels`: elements of our parts, in order.
  Reducer(std::vector<std::size_t> numels, std::size_t senders);

  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }

  [[nodiscard]] std::size_t numel(std::size_t part) const noexcept { return parts_[part].numel; }

  /// The first part that is not finished; parts() when all are.
  [[nodiscard]] std::size_t frontier() const noexcept { return frontier_; }

  [[nodiscard]] bool done() const noexcept { return frontier_ == parts_.size(); }

  /// sum += weight · decoded. Errors: malformed, invalid (nothing was added). Cost: one pass.
  [[nodiscard]] Status add(std::size_t part,
                           compress::CompressionType codec,
                           ByteView buffer,
                           double weight);
  /// The same for our own values.
  void add_own(std::size_t part, std::span<float const> values, double weight);
  /// `sender`'s contribution to `part` is in.
  void counted(std::size_t part, std::size_t sender, double weight);

  void ban(std::size_t sender) { banned_[sender] = true; }

  [[nodiscard]] bool banned(std::size_t sender) const noexcept { return banned_[sender]; }

  [[nodiscard]] bool has(std::size_t part, std::size_t sender) const noexcept {
    return parts_[part].from[sender];
  }

  /// Senders that are still waited for at the frontier.
  [[nodiscard]] std::vector<std::size_t> missing() const;
  /// Whether the frontier's part has all it will get.
  [[nodiscard]] bool ready() const;

  /// Turns the sum into the mean. The work of it; advance() tells that it is done.
  void finish(std::size_t part);

  void advance() noexcept { ++frontier_; }

  /// Empty: no average (see above).
  [[nodiscard]] std::span<float const> average(std::size_t part) const noexcept;
  /// As reply() for plain values, written over what was sent.
  [[nodiscard]] Status reply_in_place(std::size_t part, MutableBytes sent) const;
  /// Encodes (mean − decoded) into `out`, in the sender's codec. Errors: malformed, invalid (the
  /// difference overflows).
  [[nodiscard]] Status reply(std::size_t part,
                             compress::CompressionType codec,
                             ByteView sent,
                             Bytes& out) const;

 private:
  struct Part {
    std::size_t numel = 0;
    std::vector<float> sum;  ///< then the mean
    double weight = 0;
    bool averaged = false;
    std::vector<bool> from;
  };

  std::vector<Part> parts_;
  std::vector<bool> banned_;
  std::size_t frontier_ = 0;
};

}  // namespace waggle::averaging
