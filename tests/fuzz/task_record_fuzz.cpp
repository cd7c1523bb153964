// SPDX-License-Identifier: MIT
#include "core/task/record.hpp"
#include "core/task/record_rule.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// The input as an envelope, as a stored value, and as what an operator signed: a signature does not
// make bytes good.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static auto const key = crypto::Identity::from_seed(std::array<std::byte, 32>{});
  auto const in = fuzz::input(data, size);
  (void)task::TaskRecord::open_any(in);
  task::TaskRecordRule const rule;
  (void)rule.version(dht::Id{}, in);
  auto const envelope = wire::Envelope::seal(key, "waggle-record", as_bytes("waggle/task/1"), in);
  auto const record = task::TaskRecord::open_any(envelope);
  if (!record) return 0;
  WAGGLE_ASSERT(record->operator_id == key.peer_id());
  auto const again = task::TaskRecord::open(record->seal(key), key.peer_id(), record->prefix);
  WAGGLE_ASSERT(again.has_value(), again ? "" : again.error().detail);
  WAGGLE_ASSERT(again->version == record->version && again->toml == record->toml &&
                again->blobs == record->blobs);
  auto const place = dht::Id::of_text(task::TaskRecord::key_text(key.peer_id(), record->prefix));
  WAGGLE_ASSERT(rule.version(place, wire::Msgpack(envelope).encode()) == record->version);
  return 0;
}
