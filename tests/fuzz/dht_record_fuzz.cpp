// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/dht/schema_validator.hpp"
#include "core/dht/validators.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// The first byte is the subkey's length; subkey and value are a stranger's. What is stripped twice
// is what is stripped once, for a record that validates.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  auto const in = fuzz::input(data + 1, size - 1);
  std::size_t const split = std::min<std::size_t>(data[0], in.size());
  static dht::Validators const validators = [] {
    dht::Validators v;
    std::vector<dht::KeySchema> keys{dht::progress_schema("run")};
    v.add(std::make_shared<dht::SchemaValidator>(std::move(keys)));
    return v;
  }();
  static dht::Id const key = dht::Id::of_text("run_progress");
  dht::RecordView const record{key, in.first(split), in.subspan(split), 1.0};
  bool const valid = validators.validate(record).has_value();
  auto const bare = validators.strip(record);
  WAGGLE_ASSERT(bare.size() <= record.value.size());
  if (valid) WAGGLE_ASSERT(equal(validators.strip({key, record.subkey, bare, 1.0}), bare));
  return 0;
}
