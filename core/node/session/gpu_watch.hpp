// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/runtime.hpp"
#include "core/device/gpu_driver.hpp"
#include "core/worker/trainer_process.hpp"

namespace waggle::node {

/// What a trainer says of its GPU.
struct GpuState {
  bool can = false;     ///< it was built for some
  bool works = false;   ///< it works on one
  std::string trouble;  ///< why not, or what it cannot hold there
  /// Another try may help; not where the kernel cannot close the sandbox around a GPU.
  bool can_pass = true;
  std::optional<worker::GpuShortage> shortage;  ///< set: memory is why not
};

/// What there is of the driver that the trainer's engine needs.
struct GpuDriver {
  std::vector<std::string> missing;  ///< its files that are not there
  device::GpuMaker maker = device::GpuMaker::nvidia;
  bool other_card = false;  ///< this computer has a card of the other maker, and none of this one
};

/// What to do about a trainer that could work on a GPU and does not: say so once, with what is
/// missing, and let it try again now and then. Pure.
///
/// Where it worked before it is tried each kRetry. Where it never did, a trainer is not started
/// again for nothing: only once all files of the driver are there, and if that is not enough, ever
/// more seldom. Where the reason stays as long as the kernel runs, or the limit of its memory,
/// never.
class GpuWatch {
 public:
  static constexpr Duration kRetry = std::chrono::minutes(5);
  static constexpr Duration kMostSeldom = std::chrono::hours(2);

  struct Advice {
    std::string notice;      ///< for a person; empty: nothing new
    bool try_again = false;  ///< start the trainer anew, with the GPU
  };

  /// Whether look() wants to know the driver, which costs something to find out.
  [[nodiscard]] bool asks(GpuState const& state, TimePoint now) const noexcept;
  /// `driver`: not read unless asks().
  [[nodiscard]] Advice look(GpuState const& state, GpuDriver const& driver, TimePoint now);

 private:
  bool worked_ = false;             // once, since the start
  Duration pause_ = kRetry;         // until the next try
  std::optional<TimePoint> retry_;  // set while it is lost
  std::string said_;  // of a GPU that works, but not as it should, or will not by itself
};

}  // namespace waggle::node
