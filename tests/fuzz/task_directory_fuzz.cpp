// SPDX-License-Identifier: MIT
#include "core/task/detail/place.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Whatever stands in the public directory, few and well-formed names come out of it.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = fuzz::input(data, size);
  auto const prefixes = task::detail::prefixes_in(bytes);
  WAGGLE_ASSERT(prefixes.size() <= task::detail::kMaxListedPrefixes);
  for (auto const& prefix : prefixes) WAGGLE_ASSERT(task::valid_prefix(prefix));
  (void)task::detail::operator_of(bytes);
  (void)task::detail::unwrap(bytes);
  return 0;
}
