// SPDX-License-Identifier: MIT
#include "core/base/copies.hpp"

#include <doctest/doctest.h>

using namespace waggle;

TEST_CASE("copies are counted by direction, or cost nothing") {
  auto const sent = copied_bytes(Copied::send);
  auto const received = copied_bytes(Copied::receive);
  note_copy(Copied::send, 100);
  note_copy(Copied::send, 11);
  CHECK(copied_bytes(Copied::send) - sent == (kCountCopies ? 111 : 0));
  CHECK(copied_bytes(Copied::receive) == received);
}
