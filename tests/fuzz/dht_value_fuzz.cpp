// SPDX-License-Identifier: MIT
#include "core/dht/value.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  // What decodes has a length, and it is the whole of it.
  auto const length = dht::msgpack_length(in);
  if (wire::Msgpack::decode(in)) WAGGLE_ASSERT(length && *length == in.size());
  if (auto const subkey = dht::normal_subkey(in))
    WAGGLE_ASSERT(*dht::normal_subkey(*subkey) == *subkey);
  // A dictionary packs to something that reads back the same.
  auto const dictionary = dht::DictionaryValue::decode(in);
  if (!dictionary) return 0;
  auto const bytes = dictionary->encode(dht::kNever);
  auto const again = dht::DictionaryValue::decode(bytes);
  WAGGLE_ASSERT(again.has_value());
  WAGGLE_ASSERT(again->encode(dht::kNever) == bytes);
  return 0;
}
