// SPDX-License-Identifier: MIT
#include "core/net/rpc/unary_frame.hpp"

#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"

namespace waggle::net::rpc {
namespace {

using protobuf::Field;
using protobuf::FieldReader;

constexpr std::uint32_t kCallId = 1;
constexpr std::uint32_t kCallUnary = 3;
constexpr std::uint32_t kUnaryResponse = 4;
// The other members of the oneof: the daemon's control messages, never meant for the network.
constexpr std::uint32_t kAddHandler = 2;
constexpr std::uint32_t kCancel = 5;
constexpr std::uint32_t kRemoveHandler = 6;

constexpr std::uint32_t kPeer = 1;
constexpr std::uint32_t kProto = 2;
constexpr std::uint32_t kData = 3;
constexpr std::uint32_t kResponse = 1;
constexpr std::uint32_t kError = 2;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("unary frame: ", what)};
}

// Known fields are all length-delimited; anything else under their number is an error, as in Go.
Status expect_bytes(Field const& field, std::uint32_t last_known) {
  if (field.number <= last_known && field.wire != Field::Wire::bytes)
    return malformed(cat("field ", field.number, " has wire type ", field.wire));
  return ok();
}

Result<UnaryFrame::Call> decode_call(ByteView message) {
  std::optional<ByteView> peer;
  std::optional<ByteView> proto;
  std::optional<ByteView> data;
  FieldReader reader(message);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    WAGGLE_TRY_STATUS(expect_bytes(*field, kData));
    if (field->number == kPeer) peer = field->bytes;
    if (field->number == kProto) proto = field->bytes;
    if (field->number == kData) data = field->bytes;
  }
  if (!peer || !proto || !data) return malformed("a call lacks peer, proto or data");
  return UnaryFrame::Call{*peer, as_text(*proto), *data};
}

Result<UnaryFrame::Answer> decode_answer(ByteView message) {
  UnaryFrame::Answer answer;
  FieldReader reader(message);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    WAGGLE_TRY_STATUS(expect_bytes(*field, kError));
    if (field->number == kResponse) answer = {field->bytes, std::nullopt};
    if (field->number == kError) answer = {std::nullopt, as_text(field->bytes)};
  }
  if (!answer.response && !answer.error)
    return malformed("an answer has neither response nor error");
  return answer;
}

}  // namespace

Result<UnaryFrame> UnaryFrame::decode(ByteView body) {
  UnaryFrame frame;
  std::optional<ByteView> call_id;
  FieldReader reader(body);
  for (;;) {
    WAGGLE_TRY(auto const field, reader.next());
    if (!field) break;
    WAGGLE_TRY_STATUS(expect_bytes(*field, kRemoveHandler));
    switch (field->number) {
      case kCallId:
        call_id = field->bytes;
        break;
      case kCallUnary: {
        WAGGLE_TRY(frame.call, decode_call(field->bytes));
        frame.answer.reset();
        break;
      }
      case kUnaryResponse: {
        WAGGLE_TRY(frame.answer, decode_answer(field->bytes));
        frame.call.reset();
        break;
      }
      case kAddHandler:
      case kCancel:
      case kRemoveHandler:
        frame.call.reset();
        frame.answer.reset();
        break;
      default:
        break;
    }
  }
  if (!call_id) return malformed("no call id");
  frame.call_id = *call_id;
  return frame;
}

Bytes encode_call(ByteView call_id, ByteView peer, std::string_view proto, ByteView data) {
  using protobuf::field_header_size;
  std::size_t const inner = field_header_size(kPeer, peer.size()) + peer.size() +
                            field_header_size(kProto, proto.size()) + proto.size() +
                            field_header_size(kData, data.size()) + data.size();
  Bytes out;
  out.reserve(inner + call_id.size() + 16);
  protobuf::append_field(out, kCallId, call_id);
  protobuf::append_field_header(out, kCallUnary, inner);
  protobuf::append_field(out, kPeer, peer);
  protobuf::append_field(out, kProto, as_bytes(proto));
  protobuf::append_field(out, kData, data);
  return out;
}

namespace {

Bytes encode_answer(ByteView call_id, std::uint32_t number, ByteView content) {
  std::size_t const inner = protobuf::field_header_size(number, content.size()) + content.size();
  Bytes out;
  out.reserve(inner + call_id.size() + 16);
  protobuf::append_field(out, kCallId, call_id);
  protobuf::append_field_header(out, kUnaryResponse, inner);
  protobuf::append_field(out, number, content);
  return out;
}

}  // namespace

Bytes encode_response(ByteView call_id, ByteView response) {
  return encode_answer(call_id, kResponse, response);
}

Bytes encode_error(ByteView call_id, std::string_view text) {
  return encode_answer(call_id, kError, as_bytes(text));
}

}  // namespace waggle::net::rpc
