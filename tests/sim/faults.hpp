// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/net/stream.hpp"

namespace waggle::sim {

/// What goes wrong on streams: each write of a stream draws once, and at most one of these happens.
/// Units: chances from 0 to 1.
struct Faults {
  double drop = 0;       ///< the stream is reset instead
  double truncate = 0;   ///< a part goes out, then the stream is reset
  double corrupt = 0;    ///< one bit is another: what a liar or a bug above Noise would send
  double duplicate = 0;  ///< goes out twice
  double delay = 0;      ///< goes out up to 5 s later

  [[nodiscard]] double sum() const noexcept {
    return drop + truncate + corrupt + duplicate + delay;
  }
};

/// `stream`, with faults in what is written to it.
[[nodiscard]] std::unique_ptr<net::Stream> faulty(Runtime& runtime,
                                                  std::unique_ptr<net::Stream> stream,
                                                  Faults faults);

}  // namespace waggle::sim
