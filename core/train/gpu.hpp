// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace waggle::train {

/// Whether libtorch was built for graphics processors.
[[nodiscard]] bool can_gpu() noexcept;

/// Whether those are AMD's: its libtorch was built for ROCm, which calls itself CUDA in most else.
[[nodiscard]] bool is_rocm() noexcept;

/// What it has of them.
struct Gpu {
  bool works = false;   ///< one is there, and its driver answers
  std::string address;  ///< on the PCI bus, as Linux writes it: "0000:65:00.0"; empty: not known
  /// Why it does not work although it could, or the limit is not held; empty: nothing is wrong.
  std::string trouble;
};

/// Starts the first GPU's driver and lets torch's tensors there take so many bytes together (0: no
/// limit; the driver's own share, some hundred MiB, is beside it). Above it a batch fails as one
/// does for which the card is too small. Before the first Model. Never fails: what is wrong is
/// told.
[[nodiscard]] Gpu start_gpu(std::uint64_t memory_limit);

/// Whether what torch threw means that memory ran out, the processor's or a GPU's: a smaller batch
/// may fit.
[[nodiscard]] bool says_out_of_memory(std::string_view what) noexcept;

/// Whether what torch threw means that the GPU is lost to this process: its driver, not the batch,
/// is in trouble. Memory that ran out is not.
[[nodiscard]] bool says_gpu_lost(std::string_view what) noexcept;

}  // namespace waggle::train
