// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace waggle {

/// What went wrong, coarse enough to switch on. Wire-stable: never renumber.
enum class Errc : std::uint8_t {
  timeout = 1,    ///< the deadline passed
  closed,         ///< the other end is gone
  refused,        ///< the other end, or a rule of ours, said no
  malformed,      ///< bytes that do not parse
  bad_signature,  ///< a signature or an authentication tag that does not verify
  not_found,      ///< nobody has it
  too_large,      ///< above a named limit
  cancelled,      ///< our own scope is closing; leave, do not retry
  io,             ///< the operating system said no
  invalid,        ///< a value a person wrote is out of range
};

/// The stable lower-case name of `code`, as logs and JSON carry it.
[[nodiscard]] std::string_view name(Errc code) noexcept;

/// A failure that a caller is expected to handle. Programming errors assert instead.
/// `detail` is for a human and holds enough to act on: which peer, which limit, both numbers.
struct Error {
  Errc code;
  std::string detail;
};

/// Value or Error. A subset of C++23's std::expected, so that it can become an alias later.
/// Dereferencing an error is a bug of the caller, as with std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)

  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }

  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() & noexcept { return *std::get_if<0>(&state_); }

  T const& operator*() const& noexcept { return *std::get_if<0>(&state_); }

  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }

  T* operator->() noexcept { return std::get_if<0>(&state_); }

  T const* operator->() const noexcept { return std::get_if<0>(&state_); }

  Error& error() & noexcept { return *std::get_if<1>(&state_); }

  Error const& error() const& noexcept { return *std::get_if<1>(&state_); }

  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  [[nodiscard]] T value_or(T fallback) && {
    return has_value() ? std::move(**this) : std::move(fallback);
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;

[[nodiscard]] inline Status ok() {
  return std::monostate{};
}

}  // namespace waggle

#define WAGGLE_CAT2(a, b) a##b
#define WAGGLE_CAT(a, b) WAGGLE_CAT2(a, b)
// Declaration form on purpose: a GNU statement-expression around co_await crashes g++ 12.
#define WAGGLE_TRY_IMPL(tmp, ret, decl, expr) \
  auto tmp = (expr);                          \
  if (!tmp) ret std::move(tmp).error();       \
  decl = *std::move(tmp)
/// WAGGLE_TRY(auto n, parse(bytes)); binds the value or returns the error.
#define WAGGLE_TRY(decl, expr) WAGGLE_TRY_IMPL(WAGGLE_CAT(try_, __LINE__), return, decl, expr)
/// The same in a coroutine: WAGGLE_CO_TRY(auto n, co_await stream.read_some(buf, deadline));
#define WAGGLE_CO_TRY(decl, expr) WAGGLE_TRY_IMPL(WAGGLE_CAT(try_, __LINE__), co_return, decl, expr)

#define WAGGLE_CHECK_IMPL(tmp, ret, expr) \
  if (auto tmp = (expr); !tmp) ret std::move(tmp).error()
/// WAGGLE_TRY_STATUS(write(bytes)); returns the error of a Status, keeps nothing.
#define WAGGLE_TRY_STATUS(expr) WAGGLE_CHECK_IMPL(WAGGLE_CAT(try_, __LINE__), return, expr)
/// The same in a coroutine; `expr` must not hold co_await inside a condition on g++ 12, so it is
/// bound first.
#define WAGGLE_CO_TRY_STATUS(expr)          \
  auto WAGGLE_CAT(try_, __LINE__) = (expr); \
  if (!WAGGLE_CAT(try_, __LINE__)) co_return std::move(WAGGLE_CAT(try_, __LINE__)).error()
