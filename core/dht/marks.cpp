// SPDX-License-Identifier: MIT
#include "core/dht/marks.hpp"

namespace waggle::dht {

std::vector<Mark> find_marks(ByteView bytes, std::string_view opening) {
  auto const text = as_text(bytes);
  std::vector<Mark> out;
  for (std::size_t at = text.find(opening); at != std::string_view::npos;) {
    std::size_t const first = at + opening.size();
    // The first character may itself be ']'; a newline ends the attempt.
    std::size_t const end = text.find_first_of("]\n", first + 1);
    bool const whole = first < text.size() && text[first] != '\n' &&
                       end != std::string_view::npos && text[end] == ']';
    if (whole) out.push_back({at, end + 1, text.substr(first, end - first)});
    at = text.find(opening, whole ? end + 1 : first);
  }
  return out;
}

}  // namespace waggle::dht
