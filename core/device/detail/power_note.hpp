// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.hpp"

namespace waggle::device::detail {

/// A card's power limit that was lowered, in milliwatts.
struct LoweredLimit {
  unsigned wanted = 0;  ///< what was set
  unsigned former = 0;  ///< what is to be put back

  /// Unset: no limits, or such as nobody lowers.
  [[nodiscard]] static std::optional<LoweredLimit> parse(std::string_view text);
  friend bool operator==(LoweredLimit const&, LoweredLimit const&) = default;
};

/// What is to be put back of one card, in a file that outlives its writer: "150000 300000" in
/// waggle-gpu-power-<address>. Whose note it is has it locked, and the kernel unlocks it with the
/// end of the process, whatever ended it.
class PowerNote {
 public:
  PowerNote() = default;
  /// Ours from here on. False where another process holds it, or the folder cannot be written.
  [[nodiscard]] static PowerNote create(std::filesystem::path const& folder,
                                        std::string_view address);

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(locked_); }

  [[nodiscard]] std::filesystem::path const& file() const noexcept { return file_; }

  /// The card's, on the PCI bus.
  [[nodiscard]] std::string address() const;
  /// Unset: it holds no limits.
  [[nodiscard]] std::optional<LoweredLimit> read() const;
  /// Whether it stands there now.
  [[nodiscard]] bool write(LoweredLimit const& limit) const;
  /// Nothing is to be put back any more; no longer ours.
  void remove();

 private:
  friend std::vector<PowerNote> left_notes(std::filesystem::path const& folder);

  std::filesystem::path file_;
  Fd locked_;
};

/// Those whose processes ended without removing them, ours from here on. At most 4,096 files of the
/// folder are looked at.
[[nodiscard]] std::vector<PowerNote> left_notes(std::filesystem::path const& folder);

/// Whether there are any, also of a process that lives. Locks nothing.
[[nodiscard]] bool has_notes(std::filesystem::path const& folder);

}  // namespace waggle::device::detail
