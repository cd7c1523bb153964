// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"

#include "installer/launcher/places.hpp"

namespace waggle::launcher {

/// Opens the place's folder, making it where it is missing, and answers for it: it belongs to this
/// user alone, is no symbolic link, nobody else can put another in its stead, and programs may run
/// there. Errors: refused or io, with the reason in words.
[[nodiscard]] Result<Fd> open_place(Place const& place);

/// Opens `name` below `parent` as a folder of this user's alone, making it where it is missing.
/// Errors: refused (a link, no folder, somebody else's), io.
[[nodiscard]] Result<Fd> open_private(int parent, std::string const& name);

/// Errors: refused, with both numbers, where fewer than `bytes` and a little are free.
[[nodiscard]] Status check_space(int folder, std::uint64_t bytes);

/// Deletes `name` below `parent` with all that is in it, following no link. False: something
/// stayed.
bool remove_tree(int parent, std::string const& name);

/// The real path of an open folder; `otherwise` where /proc is not there.
[[nodiscard]] std::string path_of(int folder, std::string otherwise);

}  // namespace waggle::launcher
