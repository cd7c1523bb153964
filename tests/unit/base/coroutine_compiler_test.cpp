// SPDX-License-Identifier: MIT
// The coroutine forms that .github/CONTRIBUTING.md calls good, each counted: an object destroyed
// twice or never is the compiler's fault (g++ 12 does so with the bad forms) and shows here, and
// under ASan as well. Whoever moves to another compiler runs this first.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/runtime.hpp"

#include "tests/support/run.hpp"

using namespace waggle;

namespace {

// Counts living copies; the string makes a double destruction a double free.
struct Tracked {
  static inline int living = 0;

  explicit Tracked(std::string t) : text(std::move(t)) { ++living; }

  Tracked(Tracked const& other) : text(other.text) { ++living; }

  Tracked(Tracked&& other) noexcept : text(std::move(other.text)) { ++living; }

  Tracked& operator=(Tracked const&) = default;
  Tracked& operator=(Tracked&&) = default;

  ~Tracked() { --living; }

  std::string text;
};

struct Aggregate {
  int number;
  Tracked tracked;
};

std::string long_text() {
  return "a text that is too long for the small string inside the object";
}

Co<void> hop(Runtime& runtime) {
  (void)co_await runtime.sleep_for(std::chrono::microseconds(10));
}

template <class F>
Co<std::size_t> call(Runtime& runtime, F f) {
  co_await hop(runtime);
  co_return f();
}

Co<std::size_t> take(Runtime& runtime, Aggregate aggregate) {
  co_await hop(runtime);
  co_return aggregate.tracked.text.size();
}

Co<std::size_t> look(Runtime& runtime, Aggregate const& aggregate) {
  co_await hop(runtime);
  co_return aggregate.tracked.text.size();
}

Co<std::size_t> take_class(Runtime& runtime, Tracked tracked) {
  co_await hop(runtime);
  co_return tracked.text.size();
}

Co<std::size_t> take_library(Runtime& runtime,
                             std::string text,
                             std::vector<int> values,
                             std::unique_ptr<int> box) {
  co_await hop(runtime);
  co_return text.size() + values.size() + static_cast<std::size_t>(*box);
}

Co<std::size_t> take_function(Runtime& runtime, std::function<std::size_t()> f) {
  co_await hop(runtime);
  co_return f();
}

Co<Result<Tracked>> result(Runtime& runtime, bool good) {
  co_await hop(runtime);
  if (!good) co_return Error{Errc::io, long_text()};
  co_return Tracked(long_text());
}

Co<Status> status(Runtime& runtime, bool good) {
  co_await hop(runtime);
  if (!good) co_return Error{Errc::io, long_text()};
  co_return ok();
}

Co<std::pair<Tracked, int>> pair(Runtime& runtime) {
  co_await hop(runtime);
  co_return std::pair<Tracked, int>(Tracked(long_text()), 3);
}

Co<Result<std::size_t>> through_macros(Runtime& runtime, bool first, bool second) {
  WAGGLE_CO_TRY_STATUS(co_await status(runtime, first));
  WAGGLE_CO_TRY(auto tracked, co_await result(runtime, second));
  co_return tracked.text.size();
}

Co<void> named_lambda(Runtime& runtime) {
  Tracked const captured(long_text());
  auto f = [captured] { return captured.text.size(); };
  auto const n = co_await call(runtime, std::move(f));
  CHECK(n == long_text().size());
}

Co<void> reference_lambda(Runtime& runtime) {
  Tracked const captured(long_text());
  auto const n = co_await call(runtime, [&captured] { return captured.text.size(); });
  CHECK(n == long_text().size());
}

Co<void> named_function(Runtime& runtime) {
  Tracked const captured(long_text());
  std::function<std::size_t()> f = [captured] { return captured.text.size(); };
  auto const n = co_await take_function(runtime, std::move(f));
  CHECK(n == long_text().size());
}

Co<void> named_aggregate(Runtime& runtime) {
  Aggregate aggregate{1, Tracked(long_text())};
  auto const seen = co_await look(runtime, aggregate);
  CHECK(seen == long_text().size());
  auto const taken = co_await take(runtime, std::move(aggregate));
  CHECK(taken == long_text().size());
}

Co<void> class_temporaries(Runtime& runtime) {
  auto const tracked = co_await take_class(runtime, Tracked(long_text()));
  CHECK(tracked == long_text().size());
  auto const library = co_await take_library(
      runtime, std::string(100, 'x'), std::vector<int>(50, 1), std::make_unique<int>(7));
  CHECK(library == 157);
}

Co<void> branches(Runtime& runtime, bool first) {
  std::size_t n = 0;
  if (first)
    n = co_await take_class(runtime, Tracked(long_text()));
  else
    n = 1;
  CHECK(n == (first ? long_text().size() : 1));
}

Co<void> macros(Runtime& runtime) {
  auto const good = co_await through_macros(runtime, true, true);
  CHECK(*good == long_text().size());
  auto const early = co_await through_macros(runtime, false, true);
  CHECK(early.error().detail == long_text());
  auto const late = co_await through_macros(runtime, true, false);
  CHECK(late.error().detail == long_text());
}

Co<void> bindings(Runtime& runtime) {
  auto made = co_await pair(runtime);
  auto& [tracked, number] = made;
  CHECK(tracked.text == long_text());
  CHECK(number == 3);
}

Co<void> loops(Runtime& runtime) {
  std::size_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    auto made = co_await result(runtime, i % 3 != 0);
    if (!made) continue;
    Tracked mine = *std::move(made);
    sum += co_await take_class(runtime, std::move(mine));
  }
  CHECK(sum == 6 * long_text().size());
}

void check(Co<void> (*form)(Runtime&)) {
  SystemRuntime runtime;
  Tracked::living = 0;
  for (int i = 0; i < 3; ++i) test::run(runtime, form(runtime));
  CHECK(Tracked::living == 0);
}

}  // namespace

TEST_SUITE("coroutines of this compiler") {
  TEST_CASE("a named lambda with captures is moved in") {
    check(named_lambda);
  }

  TEST_CASE("a lambda that captures references may be a temporary") {
    check(reference_lambda);
  }

  TEST_CASE("a named std::function is moved in") {
    check(named_function);
  }

  TEST_CASE("a named aggregate is passed and moved in") {
    check(named_aggregate);
  }

  TEST_CASE("temporaries of classes with constructors are destroyed once") {
    check(class_temporaries);
  }

  TEST_CASE("branches stand where a conditional operator must not") {
    check([](Runtime& r) { return branches(r, true); });
    check([](Runtime& r) { return branches(r, false); });
  }

  TEST_CASE("the macros bind values and return errors") {
    check(macros);
  }

  TEST_CASE("a result is named before it is taken apart") {
    check(bindings);
  }

  TEST_CASE("loops carry values across suspensions") {
    check(loops);
  }
}
