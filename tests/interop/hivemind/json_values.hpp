// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/averaging/schema.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::interop {

/// JSON as msgpack; {"hex": "…"} is bin. Errors: malformed (the hex).
[[nodiscard]] Result<wire::Msgpack> to_msgpack(nlohmann::json const& value);
/// The way back; bin becomes {"hex": "…"}, a tuple an array, map keys JSON texts of themselves.
[[nodiscard]] nlohmann::json to_json(wire::Msgpack const& value);

/// [[2, 3], [4]] as the schema of detached tensors.
[[nodiscard]] averaging::Schema to_schema(nlohmann::json const& shapes);

/// Raw little-endian float32, as numpy's tofile writes them. Errors: io, malformed.
[[nodiscard]] Result<std::vector<float>> read_values(std::filesystem::path const& file);
[[nodiscard]] Status write_values(std::filesystem::path const& file,
                                  std::vector<float> const& values);

}  // namespace waggle::interop
