// SPDX-License-Identifier: MIT
// What a stranger sends to the local API: within its limits or an error, and never let in without
// the token.
#include "core/node/api/guard.hpp"
#include "core/node/api/http_request.hpp"

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace waggle;
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  auto const head = node::parse_head(text);
  if (!head) return 0;
  WAGGLE_ASSERT(size <= node::kMaxHeadBytes && head->headers.size() <= node::kMaxHeaders);
  WAGGLE_ASSERT(!head->path.empty() && head->path[0] == '/');
  for (auto const& [name, value] : head->headers)
    for (auto const& part : {name, value})
      WAGGLE_ASSERT(part.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  if (auto const length = node::body_length(*head)) WAGGLE_ASSERT(*length <= node::kMaxBodyBytes);
  (void)head->parameter("after");
  node::ApiDoor const door{
      "127.0.0.1", 8642, {"box.lan"}, "a token that is not in the input: \x01"};
  if (!node::judge(door, *head))
    WAGGLE_ASSERT(node::is_public(head->path) && head->method != "POST");
  return 0;
}
