// SPDX-License-Identifier: MIT
#include "core/base/latest.hpp"

#include <atomic>

#include <doctest/doctest.h>

#include "core/base/compute.hpp"

using namespace waggle;

TEST_SUITE("Latest") {
  TEST_CASE("is empty, then holds the newest; a reader keeps what it took") {
    Latest<int> slot;
    CHECK(slot.get() == nullptr);
    slot.set(std::make_shared<int const>(1));
    auto const first = slot.get();
    slot.set(std::make_shared<int const>(2));
    CHECK(*first == 1);
    CHECK(*slot.get() == 2);
  }

  TEST_CASE("readers on other threads see whole values that never go back") {
    struct Pair {
      int a;
      int b;
    };

    Latest<Pair> slot;
    slot.set(std::make_shared<Pair const>(Pair{0, 0}));
    std::atomic<int> wrong = 0;
    {
      ThreadPool readers("readers", 3);
      for (int r = 0; r < 3; ++r)
        readers.post([&] {
          int last = 0;
          for (int i = 0; i < 20'000; ++i) {
            auto const seen = slot.get();
            if (seen->a != seen->b || seen->a < last) ++wrong;
            last = seen->a;
          }
        });
      for (int i = 1; i <= 20'000; ++i) slot.set(std::make_shared<Pair const>(Pair{i, i}));
    }
    CHECK(wrong == 0);
  }
}
