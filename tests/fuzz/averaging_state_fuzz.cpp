// SPDX-License-Identifier: MIT
#include "core/averaging/state_native.hpp"
#include "core/averaging/state_stream.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::averaging;

// The input as a stream of DownloadData, each led by a length byte, and as both messages of
// /waggle/state/1.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  (void)native::parse_request(in);
  (void)native::parse_header(in);
  StateAssembler assembler({{{3}, false}, {{}, false}, {{2, 2}, true}});
  for (std::size_t at = 0; at < in.size();) {
    auto const length =
        std::min<std::size_t>(std::to_integer<std::size_t>(in[at]), in.size() - at - 1);
    if (!assembler.feed(in.subspan(at + 1, length))) return 0;
    at += 1 + length;
  }
  auto const state = assembler.finish();
  if (state)
    WAGGLE_ASSERT(state->values.size() == 8 && compress::all_finite(state->values) &&
                  state->epoch >= 0);
  return 0;
}
