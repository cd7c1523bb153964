// SPDX-License-Identifier: MIT
#include "core/node/api/snapshot_json.hpp"
#include "core/node/commands.hpp"
#include "core/node/control/contacts.hpp"
#include "core/node/control/messages.hpp"
#include "core/node/control/rights.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::node::control;

// What a watcher, a machine and a file of paired ones may hold, of any bytes.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  if (auto const request = decode_request(in)) {
    auto const again = decode_request(encode(*request));
    WAGGLE_ASSERT(again && *again == *request);
    if (auto const* const order = std::get_if<Order>(&*request))
      if (auto const command = node::Command::from_json(order->command)) {
        WAGGLE_ASSERT(!may_give(Right::watch, *command));
        (void)may_give(Right::control, *command);
      }
  }
  if (auto const reply = decode_reply(in)) {
    auto const again = decode_reply(encode(*reply));
    WAGGLE_ASSERT(again && *again == *reply);
    if (auto const* const view = std::get_if<View>(&*reply))
      if (auto const json = unpack(*view)) (void)node::snapshot_from_json(*json);
  }
  View view;
  view.zstd = to_bytes(in);
  if (auto const json = unpack(view)) WAGGLE_ASSERT(json->size() <= kMaxSnapshotBytes);
  if (auto const contacts = Contacts::parse(as_text(in), "paired.toml")) {
    auto const again = Contacts::parse(contacts->text(), "paired.toml");
    WAGGLE_ASSERT(again && again->all().size() == contacts->all().size());
  }
  auto const name = clean_name(as_text(in));
  WAGGLE_ASSERT(!name.empty() && name.size() <= Contacts::kMaxName && clean_name(name) == name);
  (void)parse_code(as_text(in));
  return 0;
}
