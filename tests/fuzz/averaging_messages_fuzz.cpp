// SPDX-License-Identifier: MIT
#include "core/averaging/gather.hpp"
#include "core/averaging/group.hpp"
#include "core/averaging/group_key.hpp"
#include "core/averaging/messages.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::averaging;

namespace {

bool inside(ByteView view, ByteView whole) {
  return view.empty() ||
         (view.data() >= whole.data() && view.data() + view.size() <= whole.data() + whole.size());
}

}  // namespace

// Every message of averaging. Views stay inside the input; what parses encodes to something that
// parses equal.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  if (auto const part = parse_averaging_data(in)) {
    WAGGLE_ASSERT(inside(part->group_id, in) && part->group_id.size() <= kMaxGroupIdBytes);
    if (part->tensor) {
      WAGGLE_ASSERT(inside(part->tensor->buffer, in) &&
                    part->tensor->size.size() <= kMaxTensorDims);
      TensorHeader const header{part->tensor->size,
                                part->tensor->requires_grad,
                                part->tensor->dtype,
                                part->tensor->compression,
                                part->tensor->chunks};
      auto bytes = averaging_head(
          part->code, part->group_id, part->weight, header, part->tensor->buffer.size());
      append(bytes, part->tensor->buffer);
      auto const again = parse_averaging_data(bytes);
      WAGGLE_ASSERT(again.has_value() && again->tensor &&
                    equal(again->tensor->buffer, part->tensor->buffer));
      WAGGLE_ASSERT(again->tensor->size == part->tensor->size && again->code == part->code);
    }
  }
  if (auto const download = parse_download_data(in)) WAGGLE_ASSERT(inside(download->metadata, in));
  if (auto const join = parse_join_request(in)) {
    auto const again = parse_join_request(encode(*join));
    WAGGLE_ASSERT(again.has_value() && encode(*again) == encode(*join));
    (void)parse_group_key(join->group_key);
  }
  if (auto const message = parse_message_from_leader(in)) {
    auto const again = parse_message_from_leader(encode(*message));
    WAGGLE_ASSERT(again.has_value() && *again == *message);
    if (!message->ordered_peer_ids.empty())
      (void)make_group(message->group_id,
                       message->ordered_peer_ids,
                       message->gathered,
                       message->ordered_peer_ids[0]);
  }
  if (auto const gather = Gather::parse(in))
    WAGGLE_ASSERT(Gather::parse(gather->encode()).has_value());
  return 0;
}
