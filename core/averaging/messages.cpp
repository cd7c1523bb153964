// SPDX-License-Identifier: MIT
#include "core/averaging/messages.hpp"

#include <array>
#include <bit>

#include "core/averaging/gather.hpp"
#include "core/averaging/load_balance.hpp"
#include "core/averaging/proto/averaging.pb.h"
#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

namespace {

using Wire = protobuf::Field::Wire;

std::string text(ByteView bytes) {
  return std::string(as_text(bytes));
}

Result<MessageCode> code_of(std::int64_t number) {
  if (number < 0 || number > static_cast<int>(MessageCode::bad_group_key))
    return Error{Errc::malformed, cat("unknown message code ", number)};
  return static_cast<MessageCode>(number);
}

Bytes serialized(google::protobuf::MessageLite const& message) {
  Bytes out(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(as_u8(MutableBytes(out)));
  return out;
}

Status check_size(std::string_view what, std::size_t size, std::size_t limit) {
  if (size > limit) return Error{Errc::too_large, cat(what, " of ", size, ", at most ", limit)};
  return ok();
}

Status add_size(TensorView& tensor, protobuf::Field const& field) {
  auto const take = [&](std::uint64_t value) -> Status {
    if (value > UINT32_MAX) return Error{Errc::malformed, "a tensor dimension above 2^32"};
    WAGGLE_TRY_STATUS(check_size("tensor dimensions", tensor.size.size() + 1, kMaxTensorDims));
    tensor.size.push_back(static_cast<std::uint32_t>(value));
    return ok();
  };
  if (field.wire == Wire::varint) return take(field.value);
  if (field.wire != Wire::bytes) return Error{Errc::malformed, "tensor size"};
  for (auto packed = field.bytes; !packed.empty();) {
    WAGGLE_TRY(auto const value, protobuf::take_varint(packed));
    WAGGLE_TRY_STATUS(take(value));
  }
  return ok();
}

Result<TensorView> parse_tensor(ByteView bytes) {
  TensorView tensor;
  protobuf::FieldReader reader(bytes);
  for (;;) {
    WAGGLE_TRY(auto const next, reader.next());
    if (!next) break;
    auto const& field = *next;
    if (field.is(1, Wire::bytes)) {
      tensor.buffer = field.bytes;
    } else if (field.number == 2) {
      WAGGLE_TRY_STATUS(add_size(tensor, field));
    } else if (field.is(3, Wire::varint)) {
      tensor.requires_grad = field.value != 0;
    } else if (field.is(4, Wire::bytes)) {
      tensor.dtype = as_text(field.bytes);
    } else if (field.is(5, Wire::varint)) {
      if (field.value > 5) return Error{Errc::malformed, cat("unknown compression ", field.value)};
      tensor.compression = static_cast<compress::CompressionType>(field.value);
    } else if (field.is(6, Wire::varint)) {
      tensor.chunks = static_cast<std::int32_t>(field.value);
    }
  }
  return tensor;
}

// The tensor's fields in any order but with the buffer last, preceded by the tensor's own tag and
// length.
void append_tensor(Bytes& out,
                   unsigned number,
                   TensorHeader const& tensor,
                   std::size_t buffer_bytes) {
  Bytes inner;
  if (!tensor.size.empty()) {
    Bytes sizes;
    for (auto const dim : tensor.size) protobuf::append_varint(sizes, dim);
    protobuf::append_field(inner, 2, sizes);
  }
  if (tensor.requires_grad) protobuf::append_field(inner, 3, 1);
  if (!tensor.dtype.empty()) protobuf::append_field(inner, 4, as_bytes(tensor.dtype));
  if (tensor.compression != compress::CompressionType::none)
    protobuf::append_field(inner, 5, static_cast<std::uint64_t>(tensor.compression));
  if (tensor.chunks != 0)
    protobuf::append_field(inner, 6, static_cast<std::uint64_t>(tensor.chunks));
  if (buffer_bytes > 0) protobuf::append_field_header(inner, 1, buffer_bytes);
  protobuf::append_field_header(out, number, inner.size() + buffer_bytes);
  append(out, inner);
}

}  // namespace

std::string_view name(MessageCode code) noexcept {
  static constexpr std::array<std::string_view, 19> kNames{"NO_CODE",
                                                           "REQUEST_JOIN",
                                                           "ACCEPTED",
                                                           "BEGIN_ALLREDUCE",
                                                           "PART_FOR_AVERAGING",
                                                           "AVERAGED_PART",
                                                           "NOT_DECLARED",
                                                           "NOT_A_LEADER",
                                                           "BAD_EXPIRATION_TIME",
                                                           "BAD_SCHEMA_HASH",
                                                           "BAD_GROUP_ID",
                                                           "DUPLICATE_PEER_ID",
                                                           "GROUP_IS_FULL",
                                                           "NOT_LOOKING_FOR_GROUP",
                                                           "PROTOCOL_VIOLATION",
                                                           "INTERNAL_ERROR",
                                                           "CANCELLED",
                                                           "GROUP_DISBANDED",
                                                           "BAD_GROUP_KEY"};
  auto const index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

Bytes encode(JoinRequest const& message) {
  pb::JoinRequest out;
  out.set_schema_hash(text(message.schema_hash));
  out.set_expiration(message.expiration);
  out.set_gather(text(message.gather));
  out.set_client_mode(message.client_mode);
  out.set_group_key(message.group_key);
  return serialized(out);
}

Result<JoinRequest> parse_join_request(ByteView bytes) {
  pb::JoinRequest in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, "no JoinRequest"};
  WAGGLE_TRY_STATUS(check_size("schema hash", in.schema_hash().size(), 64));
  WAGGLE_TRY_STATUS(check_size("gather", in.gather().size(), kMaxGatherBytes));
  WAGGLE_TRY_STATUS(check_size("group key", in.group_key().size(), kMaxGroupKeyBytes));
  return JoinRequest{to_bytes(in.schema_hash()),
                     in.expiration(),
                     to_bytes(in.gather()),
                     in.client_mode(),
                     in.group_key()};
}

Bytes encode(MessageFromLeader const& message) {
  pb::MessageFromLeader out;
  out.set_code(static_cast<std::int32_t>(message.code));
  out.set_group_id(text(message.group_id));
  if (message.suggested_leader) out.set_suggested_leader(text(message.suggested_leader->bytes()));
  for (auto const& peer : message.ordered_peer_ids) out.add_ordered_peer_ids(text(peer.bytes()));
  for (auto const& gather : message.gathered) out.add_gathered(text(gather));
  return serialized(out);
}

Result<MessageFromLeader> parse_message_from_leader(ByteView bytes) {
  pb::MessageFromLeader in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, "no MessageFromLeader"};
  WAGGLE_TRY_STATUS(check_size("group id", in.group_id().size(), kMaxGroupIdBytes));
  WAGGLE_TRY_STATUS(
      check_size("group", static_cast<std::size_t>(in.ordered_peer_ids_size()), kMaxGroupSize));
  WAGGLE_TRY_STATUS(
      check_size("gathered", static_cast<std::size_t>(in.gathered_size()), kMaxGroupSize));
  MessageFromLeader message;
  WAGGLE_TRY(message.code, code_of(in.code()));
  message.group_id = to_bytes(in.group_id());
  if (!in.suggested_leader().empty()) {
    message.suggested_leader = PeerId::from_bytes(as_bytes(in.suggested_leader()));
    if (!message.suggested_leader)
      return Error{Errc::malformed, "the suggested leader is no peer id"};
  }
  for (auto const& raw : in.ordered_peer_ids()) {
    auto const peer = PeerId::from_bytes(as_bytes(raw));
    if (!peer) return Error{Errc::malformed, "a group member is no peer id"};
    message.ordered_peer_ids.push_back(*peer);
  }
  for (auto const& gather : in.gathered()) {
    WAGGLE_TRY_STATUS(check_size("gather", gather.size(), kMaxGatherBytes));
    message.gathered.push_back(to_bytes(gather));
  }
  return message;
}

std::optional<std::size_t> TensorView::numel() const noexcept {
  std::size_t n = 1;
  for (auto const dim : size) {
    if (dim != 0 && n > (std::size_t{1} << 40) / dim) return std::nullopt;
    n *= dim;
  }
  return n;
}

Bytes averaging_head(MessageCode code,
                     ByteView group_id,
                     double weight,
                     TensorHeader const& tensor,
                     std::size_t buffer_bytes) {
  Bytes out = averaging_message(code, group_id);
  if (std::bit_cast<std::uint64_t>(weight) != 0) protobuf::append_double(out, 5, weight);
  append_tensor(out, 4, tensor, buffer_bytes);
  return out;
}

Bytes averaging_message(MessageCode code, ByteView group_id) {
  Bytes out;
  if (code != MessageCode::no_code)
    protobuf::append_field(out, 1, static_cast<std::uint64_t>(code));
  if (!group_id.empty()) protobuf::append_field(out, 2, group_id);
  return out;
}

Result<AveragingData> parse_averaging_data(ByteView bytes) {
  AveragingData message;
  protobuf::FieldReader reader(bytes);
  for (;;) {
    WAGGLE_TRY(auto const next, reader.next());
    if (!next) break;
    auto const& field = *next;
    if (field.is(1, Wire::varint)) {
      WAGGLE_TRY(message.code, code_of(static_cast<std::int64_t>(field.value)));
    } else if (field.is(2, Wire::bytes)) {
      WAGGLE_TRY_STATUS(check_size("group id", field.bytes.size(), kMaxGroupIdBytes));
      message.group_id = field.bytes;
    } else if (field.is(4, Wire::bytes)) {
      WAGGLE_TRY(message.tensor, parse_tensor(field.bytes));
    } else if (field.is(5, Wire::fixed64)) {
      message.weight = std::bit_cast<double>(field.value);
    }
  }
  return message;
}

Bytes download_head(ByteView metadata, TensorHeader const& tensor, std::size_t buffer_bytes) {
  Bytes out;
  if (!metadata.empty()) protobuf::append_field(out, 1, metadata);
  append_tensor(out, 2, tensor, buffer_bytes);
  return out;
}

Result<DownloadData> parse_download_data(ByteView bytes) {
  DownloadData message;
  protobuf::FieldReader reader(bytes);
  for (;;) {
    WAGGLE_TRY(auto const next, reader.next());
    if (!next) break;
    auto const& field = *next;
    if (field.is(1, Wire::bytes)) {
      message.metadata = field.bytes;
    } else if (field.is(2, Wire::bytes)) {
      WAGGLE_TRY(message.tensor, parse_tensor(field.bytes));
    }
  }
  return message;
}

}  // namespace waggle::averaging
