// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "core/node/services.hpp"

namespace waggle::node {

/// What a person last asked of a task. It is kept, so that a kill, a power cut or a service that is
/// started again changes nothing about it.
struct Wish {
  enum class Kind : std::uint8_t { train, pause, finish };

  Kind kind = Kind::train;
  std::int64_t at_epoch = 0;  ///< finish only; 0: this one

  friend bool operator==(Wish const&, Wish const&) = default;
};

/// Writes it on the store's thread, in order; a failure is Services::not_kept().
void keep_wish(Services& services, PeerId const& operator_id, std::string_view prefix, Wish wish);

/// What was asked last; to train, if nothing was.
[[nodiscard]] Co<Wish> recall_wish(Services& services, PeerId operator_id, std::string prefix);

/// The same at the store itself. Errors: io, too_large (a full disk), not_found (no such task).
[[nodiscard]] Status write_wish(store::Store& store,
                                PeerId const& operator_id,
                                std::string_view prefix,
                                Wish wish);
[[nodiscard]] Result<Wish> read_wish(store::Store const& store,
                                     PeerId const& operator_id,
                                     std::string_view prefix);
/// What stands of it beside the task's own row, which goes with the task.
[[nodiscard]] Status forget_wish(store::Store& store,
                                 PeerId const& operator_id,
                                 std::string_view prefix);

}  // namespace waggle::node
