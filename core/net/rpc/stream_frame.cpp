// SPDX-License-Identifier: MIT
#include "core/net/rpc/stream_frame.hpp"

#include <algorithm>

#include "core/base/buffers.hpp"
#include "core/base/copies.hpp"
#include "core/base/protobuf.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace waggle::net::rpc {
namespace {

// Believed at once, and once that has come; larger bodies must come before memory for the rest is
// taken.
constexpr std::size_t kFirstAllocation = 4u << 10;
constexpr std::size_t kSecondAllocation = 1u << 20;
constexpr std::size_t kMaxErrorText = 1024;
constexpr std::uint32_t kErrorMessage = 1;

}  // namespace

MutableBytes StreamParser::space() {
  if (header_filled_ < header_.size()) return MutableBytes(header_).subspan(header_filled_);
  if (body_filled_ == body_.size()) {
    note_copy(Copied::receive, body_filled_);  // it grows
    auto const least = body_.empty() ? kFirstAllocation : kSecondAllocation;
    Bytes larger = take_buffer(std::min(body_size_, std::max(least, 2 * body_.size())));
    std::copy_n(body_.begin(), body_filled_, larger.begin());
    body_ = std::move(larger);
  }
  return MutableBytes(body_).subspan(body_filled_);
}

Result<std::optional<StreamItem>> StreamParser::advance(std::size_t n) {
  if (header_filled_ == header_.size()) {
    body_filled_ += n;
    if (body_filled_ < body_size_) return std::optional<StreamItem>{};
    return finish();
  }
  header_filled_ += n;
  if (header_filled_ < header_.size()) return std::optional<StreamItem>{};
  auto const marker = std::to_integer<std::uint8_t>(header_[0]);
  if (marker > 1) return Error{Errc::malformed, cat("streaming call: marker ", marker)};
  marker_ = static_cast<StreamMarker>(marker);
  auto const size = load_be<std::uint64_t>(ByteView(header_).subspan(1));
  auto const limit = marker_ == StreamMarker::message ? limit_ : std::min(limit_, kMaxEndBytes);
  if (size > limit)
    return Error{Errc::too_large,
                 cat("streaming call: an item of ", size, " bytes, allowed are ", limit)};
  body_size_ = static_cast<std::size_t>(size);
  if (body_size_ == 0) return finish();
  return std::optional<StreamItem>{};
}

std::optional<StreamItem> StreamParser::finish() {
  header_filled_ = 0;
  body_filled_ = 0;
  return StreamItem{marker_, std::exchange(body_, {})};
}

std::array<std::byte, kStreamHeaderBytes> stream_header(StreamMarker marker,
                                                        std::uint64_t size) noexcept {
  std::array<std::byte, kStreamHeaderBytes> header{};
  header[0] = static_cast<std::byte>(marker);
  store_be(MutableBytes(header).subspan(1), size);
  return header;
}

Bytes encode_rpc_error(std::string_view text) {
  Bytes out;
  protobuf::append_field(out, kErrorMessage, as_bytes(utf8_prefix(text, kMaxErrorText)));
  return out;
}

std::string decode_rpc_error(ByteView body) {
  ByteView text;
  protobuf::FieldReader reader(body);
  for (;;) {
    auto const field = reader.next();
    if (!field) {
      text = body;
      break;
    }
    if (!*field) break;
    if ((*field)->number == kErrorMessage && (*field)->wire == protobuf::Field::Wire::bytes)
      text = (*field)->bytes;
  }
  return to_string(text.first(std::min(text.size(), kMaxErrorText)));
}

}  // namespace waggle::net::rpc
