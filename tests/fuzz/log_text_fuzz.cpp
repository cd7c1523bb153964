// SPDX-License-Identifier: MIT
// Lines of a log, times a person writes, and what is taken out of a report.
#include "core/node/report/log_lines.hpp"
#include "core/node/report/redact.hpp"

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace waggle;
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  if (auto const line = node::parse_log_line(text)) {
    auto const again = node::parse_log_line(node::format_log_line(*line));
    WAGGLE_ASSERT(again && again->text == line->text && again->module == line->module);
  }
  if (auto const time = node::parse_since(text, 0)) WAGGLE_ASSERT(*time > -1e12 && *time < 1e12);
  for (char const c : log::one_line(text))
    WAGGLE_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  node::Redactor redact;
  redact.hide("zaphod", "<user>");
  constexpr std::string_view kToken =
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  redact.hide(std::string(kToken), "<token>");
  // Whatever stands around it.
  auto const out = redact(std::string(text) + " " + std::string(kToken) + "\n" + std::string(text));
  WAGGLE_ASSERT(out.find(kToken) == std::string::npos);
  return 0;
}
