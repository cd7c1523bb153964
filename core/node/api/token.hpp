// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "core/base/runtime.hpp"

namespace waggle::node {

/// The token of <data dir>/api.token: 32 random bytes in hex, mode 0600, made when first needed.
/// One that others could have read, or that is none, is replaced. Errors: io.
[[nodiscard]] Result<std::string> api_token(std::filesystem::path const& data_dir,
                                            Runtime& runtime);

}  // namespace waggle::node
