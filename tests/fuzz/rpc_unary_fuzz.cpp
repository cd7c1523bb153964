// SPDX-License-Identifier: MIT
#include "core/net/rpc/unary_frame.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net;

// What is read as a call or an answer means the same after it was written by us.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const frame = rpc::UnaryFrame::decode(fuzz::input(data, size));
  if (!frame) return 0;
  WAGGLE_ASSERT(!(frame->call && frame->answer));
  if (frame->call) {
    auto const& call = *frame->call;
    auto const ours = rpc::encode_call(frame->call_id, call.peer, call.proto, call.data);
    auto const again = rpc::UnaryFrame::decode(ours);
    WAGGLE_ASSERT(again && again->call && equal(again->call_id, frame->call_id));
    WAGGLE_ASSERT(equal(again->call->data, call.data) && again->call->proto == call.proto);
  }
  if (frame->answer) {
    auto const& answer = *frame->answer;
    WAGGLE_ASSERT(answer.response.has_value() != answer.error.has_value());
    auto const ours = answer.response ? rpc::encode_response(frame->call_id, *answer.response)
                                      : rpc::encode_error(frame->call_id, *answer.error);
    auto const again = rpc::UnaryFrame::decode(ours);
    WAGGLE_ASSERT(again && again->answer && again->answer->error == answer.error);
  }
  return 0;
}
