// SPDX-License-Identifier: MIT
#include "core/node/api/examples_json.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// What is read is within the limits, and reads the same once more.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (auto const preview = node::preview_from_json(as_text(fuzz::input(data, size))))
    WAGGLE_ASSERT(preview->items.size() <= node::Preview::kMost);
  auto const read = node::examples_from_json(as_text(fuzz::input(data, size)));
  if (!read) return 0;
  WAGGLE_ASSERT(read->items.size() <= node::Examples::kMost);
  for (auto const& item : read->items)
    WAGGLE_ASSERT(item.pixels.size() == std::size_t{item.channels} * item.height * item.width);
  auto const text = node::to_json(*read);
  auto const again = node::examples_from_json(text);
  WAGGLE_ASSERT(again.has_value(), text);
  WAGGLE_ASSERT(node::to_json(*again) == text);
  return 0;
}
