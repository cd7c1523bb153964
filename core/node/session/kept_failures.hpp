// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/node/services.hpp"

namespace waggle::node {

/// How a task's trainer has failed. It is kept, so that whoever starts a program anew that fails
/// does not make a broken trainer begin anew with it.
struct Failures {
  int in_a_row = 0;      ///< without a batch between
  std::string given_up;  ///< why its task is paused, one line; empty: it was not given up

  friend bool operator==(Failures const&, Failures const&) = default;
};

/// What failed: of another version of the task or of the program nothing is known yet.
struct Tried {
  PeerId operator_id;
  std::string prefix;
  std::uint64_t task_version = 0;
  std::string version;  ///< of the program, without a space
};

/// Writes it on the store's thread, in order; a failure is logged.
void keep_failures(Services& services, Tried tried, Failures failures);

/// What was kept last; none, if nothing was.
[[nodiscard]] Co<Failures> recall_failures(Services& services, Tried tried);

/// The three at the store itself. Errors: io, too_large (a full disk).
[[nodiscard]] Status write_failures(store::Store& store,
                                    Tried const& tried,
                                    Failures const& failures);
[[nodiscard]] Result<Failures> read_failures(store::Store const& store, Tried const& tried);
[[nodiscard]] Status forget_failures(store::Store& store,
                                     PeerId const& operator_id,
                                     std::string_view prefix);

}  // namespace waggle::node
