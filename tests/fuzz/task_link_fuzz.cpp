// SPDX-License-Identifier: MIT
#include "core/task/link.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// A link that is taken can be written as one that says the same.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const parsed = task::Link::parse(as_text(fuzz::input(data, size)));
  if (!parsed) return 0;
  WAGGLE_ASSERT(parsed->peers.size() <= task::Link::kMaxPeers);
  auto const text = parsed->text();
  WAGGLE_ASSERT(text.size() <= task::Link::kMaxBytes);
  auto const again = task::Link::parse(text);
  WAGGLE_ASSERT(again.has_value(), text);
  WAGGLE_ASSERT(again->prefix == parsed->prefix && again->operator_id == parsed->operator_id);
  WAGGLE_ASSERT(again->text() == text);
  return 0;
}
