// SPDX-License-Identifier: MIT
#include "core/averaging/state_stream.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace waggle::averaging {

Bytes encode_state_metadata(StateSnapshot const& state) {
  wire::Msgpack::Map map;
  map.emplace_back(wire::Msgpack("epoch"), wire::Msgpack(state.epoch));
  map.emplace_back(wire::Msgpack("group_bits"), wire::Msgpack(""));
  auto optimizer = state.optimizer_metadata;
  if (optimizer.is_nil()) optimizer = wire::Msgpack(wire::Msgpack::Array{});
  map.emplace_back(wire::Msgpack("optimizer_metadata"), std::move(optimizer));
  return wire::Msgpack(std::move(map)).encode();
}

std::vector<DownloadMessage> split_tensor(ByteView metadata,
                                          TensorSpec const& tensor,
                                          compress::CompressionType codec,
                                          ByteView buffer) {
  std::vector<DownloadMessage> messages;
  TensorHeader header;
  for (auto const dim : tensor.shape) header.size.push_back(static_cast<std::uint32_t>(dim));
  header.requires_grad = tensor.requires_grad;
  header.compression = codec;
  header.chunks =
      static_cast<std::int32_t>((buffer.size() + kStateChunkBytes - 1) / kStateChunkBytes);
  auto tail = buffer.first(std::min(buffer.size(), kStateChunkBytes));
  messages.push_back({download_head(metadata, header, tail.size()), tail});
  for (auto at = tail.size(); at < buffer.size(); at += tail.size()) {
    tail = buffer.subspan(at, std::min(buffer.size() - at, kStateChunkBytes));
    TensorHeader rest;
    rest.dtype = {};
    messages.push_back({download_head({}, rest, tail.size()), tail});
  }
  return messages;
}

StateAssembler::StateAssembler(Schema schema) {
  state_.schema = std::move(schema);
}

Status StateAssembler::complete_tensor() {
  if (!open_) return ok();
  open_ = false;
  auto const numel = state_.schema[tensor_].numel();
  auto const slice = std::span(state_.values).subspan(offset_, numel);
  WAGGLE_TRY_STATUS(compress::decode(codec_, buffer_, slice));
  if (!compress::all_finite(slice))
    return Error{Errc::invalid, cat("tensor ", tensor_, " holds a value that is not finite")};
  buffer_.clear();
  offset_ += numel;
  ++tensor_;
  return ok();
}

Status StateAssembler::feed(ByteView item) {
  WAGGLE_TRY(auto const data, parse_download_data(item));
  if (!data.metadata.empty()) {
    if (metadata_ || data.metadata.size() > kMaxMetadataBytes)
      return Error{Errc::malformed, "metadata twice or too large"};
    metadata_ = to_bytes(data.metadata);
  }
  if (!data.tensor) return ok();
  auto const& tensor = *data.tensor;
  if (!tensor.dtype.empty()) {
    WAGGLE_TRY_STATUS(complete_tensor());
    if (tensor_ >= state_.schema.size())
      return Error{Errc::malformed,
                   cat("more tensors than the ", state_.schema.size(), " expected")};
    auto const& expected = state_.schema[tensor_];
    if (tensor.dtype != "float32")
      return Error{
          Errc::malformed,
          cat("tensor ", tensor_, " has dtype ", tensor.dtype.substr(0, 32), ", expected float32")};
    bool const same = tensor.size.size() == expected.shape.size() &&
                      std::equal(tensor.size.begin(),
                                 tensor.size.end(),
                                 expected.shape.begin(),
                                 [](std::uint32_t a, std::int64_t b) {
                                   return static_cast<std::int64_t>(a) == b;
                                 });
    if (!same)
      return Error{Errc::malformed, cat("tensor ", tensor_, " has another shape than ours")};
    if (state_.values.empty()) state_.values.resize(total_numel(state_.schema));
    codec_ = tensor.compression;
    open_ = true;
  }
  if (!open_) return Error{Errc::malformed, "a chunk before its tensor"};
  auto const limit = compress::encoded_size(codec_, state_.schema[tensor_].numel());
  if (tensor.buffer.size() > limit || buffer_.size() > limit - tensor.buffer.size())
    return Error{Errc::malformed, cat("tensor ", tensor_, " has more than its ", limit, " bytes")};
  append(buffer_, tensor.buffer);
  bytes_ += tensor.buffer.size();
  return ok();
}

Result<StateSnapshot> StateAssembler::finish() {
  WAGGLE_TRY_STATUS(complete_tensor());
  if (!metadata_) return Error{Errc::refused, "the donor shares no state"};
  if (tensor_ != state_.schema.size())
    return Error{Errc::malformed,
                 cat("the state has ", tensor_, " tensors, expected ", state_.schema.size())};
  WAGGLE_TRY(auto const metadata, wire::Msgpack::decode(*metadata_));
  auto const* const epoch = metadata.find("epoch");
  auto const number = epoch != nullptr ? epoch->integer() : std::nullopt;
  if (!number || *number < 0) return Error{Errc::malformed, "the state names no epoch"};
  state_.epoch = *number;
  if (auto const* const optimizer = metadata.find("optimizer_metadata"))
    state_.optimizer_metadata = *optimizer;
  return std::move(state_);
}

}  // namespace waggle::averaging
