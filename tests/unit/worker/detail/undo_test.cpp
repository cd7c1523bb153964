// SPDX-License-Identifier: MIT
#include "core/worker/detail/undo.hpp"

#include <array>

#include <doctest/doctest.h>

namespace waggle::worker {
namespace {

TEST_CASE("Undoable, puts back what stood there before the call") {
  std::array<float, 3> buffer{1, 2, 3};
  Undoable undo;
  undo.attach(buffer, false);
  undo.save();
  buffer = {9, 9, 9};
  undo.restore();
  CHECK(buffer == std::array<float, 3>{1, 2, 3});
  undo.clear();
  undo.save();
  buffer = {4, 5, 6};
  undo.restore();
  CHECK(buffer == std::array<float, 3>{0, 0, 0});
}

TEST_CASE("Undoable, remembers that zeros were written over") {
  std::array<float, 2> buffer{};
  Undoable undo;
  undo.attach(buffer, true);
  undo.save();
  buffer = {1, 2};  // a call that succeeded
  undo.save();
  buffer = {7, 7};
  undo.restore();
  CHECK(buffer == std::array<float, 2>{1, 2});
  undo.clear();
  undo.save();
  undo.restore();
  buffer = {5, 6};  // the second try succeeded
  undo.save();
  buffer = {7, 7};
  undo.restore();
  CHECK(buffer == std::array<float, 2>{5, 6});
  undo.clear();
  undo.touch();
  buffer = {3, 4};
  undo.save();
  buffer = {7, 7};
  undo.restore();
  CHECK(buffer == std::array<float, 2>{3, 4});
}

}  // namespace
}  // namespace waggle::worker
