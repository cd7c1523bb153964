// SPDX-License-Identifier: MIT
#include "core/task/definition.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// What is taken can be written, and reads back equal; what is refused says where.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = as_text(fuzz::input(data, size));
  auto const parsed = task::Definition::parse(in, "t");
  if (!parsed) {
    WAGGLE_ASSERT(parsed.error().detail.starts_with("t"), parsed.error().detail);
    return 0;
  }
  (void)parsed->trainer_json();
  auto const again = task::Definition::parse(parsed->to_toml(), "t");
  WAGGLE_ASSERT(again.has_value(), again ? "" : again.error().detail);
  WAGGLE_ASSERT(*again == *parsed);
  return 0;
}
