// SPDX-License-Identifier: MIT
#include "core/averaging/messages.hpp"

#include <doctest/doctest.h>

#include "core/averaging/proto/averaging.pb.h"

using namespace waggle;
using namespace waggle::averaging;

namespace {

TensorHeader header_of(std::vector<std::uint32_t> size, compress::CompressionType codec) {
  TensorHeader header;
  header.size = std::move(size);
  header.compression = codec;
  return header;
}

}  // namespace

TEST_CASE("averaging_head: what follows it parses in protobuf to the same message") {
  for (std::size_t const n :
       {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{70'000}}) {
    for (double const weight : {0.0, 512.0, -0.0}) {
      Bytes buffer(n);
      for (std::size_t i = 0; i < n; ++i) buffer[i] = static_cast<std::byte>(i * 7);
      Bytes const id = to_bytes("twenty bytes of id!!");
      auto const header =
          header_of({static_cast<std::uint32_t>(n)}, compress::CompressionType::uniform_8bit);
      auto bytes = averaging_head(MessageCode::part_for_averaging, id, weight, header, n);
      append(bytes, buffer);
      pb::AveragingData message;
      REQUIRE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      CHECK(message.code() == 4);
      CHECK(message.group_id() == "twenty bytes of id!!");
      CHECK(message.weight() == weight);
      CHECK(message.tensor_part().buffer() == std::string(as_text(buffer)));
      CHECK(message.tensor_part().size_size() == 1);
      CHECK(message.tensor_part().dtype() == "float32");
      CHECK(message.tensor_part().compression() == 4);
      CHECK(message.ByteSizeLong() == bytes.size());
      // And protobuf's own order parses here.
      auto const theirs = message.SerializeAsString();
      auto const parsed = parse_averaging_data(as_bytes(theirs));
      REQUIRE(parsed);
      REQUIRE(parsed->tensor);
      CHECK(equal(parsed->tensor->buffer, buffer));
      CHECK(parsed->weight == weight);
      CHECK(parsed->tensor->numel() == n);
      CHECK(equal(parsed->group_id, id));
    }
  }
}

TEST_CASE("parse_averaging_data: refuses what is cut off, and knows nothing beyond the message") {
  auto bytes = averaging_head(
      MessageCode::no_code, {}, 1, header_of({4}, compress::CompressionType::none), 16);
  append(bytes, Bytes(16));
  REQUIRE(parse_averaging_data(bytes));
  for (std::size_t n = 1; n < bytes.size(); ++n) {
    auto const parsed = parse_averaging_data(ByteView(bytes).first(n));
    // A cut between two fields is a shorter message; never one whose buffer reaches past the end.
    if (parsed && parsed->tensor) CHECK(parsed->tensor->buffer.size() < 16);
  }
}

TEST_CASE("parse_averaging_data: hostile forms are errors, not allocations") {
  auto const bad = [](std::string_view hex) {
    return !parse_averaging_data(*from_hex(hex)).has_value();
  };
  CHECK(bad("22ffffffff7f"));  // a tensor of 32 GiB
  CHECK(bad("08ff01"));        // an unknown code
  CHECK(bad("0b"));            // a group: not a wire type of ours
  CHECK(bad("00"));            // field 0
  CHECK(bad("08ffffffffffffffffffff01"));
  CHECK(bad("2202280a"));  // an unknown codec
  Bytes dims;
  for (int i = 0; i < 40; ++i) append(dims, *from_hex("1001"));
  Bytes message = *from_hex("22");
  message.push_back(static_cast<std::byte>(dims.size()));
  append(message, dims);
  CHECK_FALSE(parse_averaging_data(message));
  TensorView huge;
  huge.size = {1u << 31, 1u << 31, 4};
  CHECK_FALSE(huge.numel());
}

TEST_CASE("MessageFromLeader: limits on ids, members and gather hold") {
  pb::MessageFromLeader message;
  message.set_group_id(std::string(65, 'x'));
  auto bytes = message.SerializeAsString();
  CHECK_FALSE(parse_message_from_leader(as_bytes(bytes)));
  message.set_group_id("x");
  message.add_ordered_peer_ids(std::string(64, 'p'));
  bytes = message.SerializeAsString();
  CHECK_FALSE(parse_message_from_leader(as_bytes(bytes)));
  message.clear_ordered_peer_ids();
  for (int i = 0; i < 1025; ++i) message.add_ordered_peer_ids("p");
  bytes = message.SerializeAsString();
  CHECK_FALSE(parse_message_from_leader(as_bytes(bytes)));
  message.clear_ordered_peer_ids();
  message.add_gathered(std::string((64u << 10) + 1, 'g'));
  bytes = message.SerializeAsString();
  CHECK_FALSE(parse_message_from_leader(as_bytes(bytes)));
}
