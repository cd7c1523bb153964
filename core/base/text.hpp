// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace waggle {

namespace detail {

inline void append(std::string& out, std::string_view text) {
  out += text;
}

// Constrained, because a string literal converts to bool before it converts to string_view.
template <class T>

requires(std::same_as<T, bool> || std::same_as<T, char>) void append(std::string& out, T value) {
  if constexpr (std::same_as<T, bool>)
    out += value ? "true" : "false";
  else
    out += value;
}

template <class T>

requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> &&
         !std::same_as<T, char>) void append(std::string& out, T number) {
  char buffer[64];
  auto const [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, number);
  out.append(buffer, ec == std::errc{} ? end : buffer);
}

template <class E>
requires std::is_enum_v<E>

void append(std::string& out, E value) {
  append(out, static_cast<std::underlying_type_t<E>>(value));
}

}  // namespace detail

/// Joins text, characters, numbers and booleans into one string: cat("port ", 31337, " is busy").
/// Numbers are written in the shortest form that reads back equal, whatever the locale.
template <class... Parts>
[[nodiscard]] std::string cat(Parts const&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

}  // namespace waggle
