// SPDX-License-Identifier: MIT
#include "core/base/result.hpp"

#include <memory>
#include <set>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Errc::invalid, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  WAGGLE_TRY(auto const h, half(n));
  WAGGLE_TRY(int q, half(h));
  return q;
}

Status even(int n) {
  WAGGLE_TRY_STATUS(half(n));
  return ok();
}

Result<std::unique_ptr<int>> boxed(bool good) {
  if (!good) return Error{Errc::io, "no box"};
  return std::make_unique<int>(7);
}

Result<int> unboxed(bool good) {
  WAGGLE_TRY(auto box, boxed(good));
  return *box;
}

}  // namespace

TEST_SUITE("Result") {
  TEST_CASE("holds a value or an error") {
    auto const value = half(8);
    REQUIRE(value);
    CHECK(*value == 4);
    auto const error = half(7);
    REQUIRE(!error);
    CHECK(error.error().code == Errc::invalid);
    CHECK(error.error().detail == "odd");
    CHECK(half(7).value_or(-1) == -1);
    CHECK(half(8).value_or(-1) == 4);
  }

  TEST_CASE("TRY binds the value or returns the error as it was") {
    CHECK(*quarter(12) == 3);
    CHECK(quarter(5).error().detail == "odd");
    CHECK(quarter(6).error().code == Errc::invalid);
    CHECK(even(2));
    CHECK(even(3).error().detail == "odd");
  }

  TEST_CASE("values that only move are moved") {
    CHECK(*unboxed(true) == 7);
    CHECK(unboxed(false).error().code == Errc::io);
    auto box = boxed(true);
    std::unique_ptr<int> const mine = *std::move(box);
    CHECK(*mine == 7);
  }

  TEST_CASE("an Error may be the value's type's neighbour: the two are never confused") {
    Result<std::string> const text = std::string("io");
    CHECK(text.has_value());
    CHECK(text->size() == 2);
  }

  // The numbers are on the wire and in logs' JSON; names are what people search for.
  TEST_CASE("codes keep their numbers and have names of their own") {
    CHECK(static_cast<int>(Errc::timeout) == 1);
    CHECK(static_cast<int>(Errc::invalid) == 10);
    std::set<std::string_view> names;
    for (int code = 1; code <= 10; ++code) names.insert(name(static_cast<Errc>(code)));
    CHECK(names.size() == 10);
    CHECK(name(Errc::bad_signature) == "bad_signature");
    CHECK(name(Errc::cancelled) == "cancelled");
  }
}
