// SPDX-License-Identifier: MIT
#include "core/net/multistream.hpp"

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/wire/varint.hpp"

namespace waggle::net::multistream {
namespace {

Co<Result<std::string>> read_token(Stream& stream, TimePoint deadline) {
  WAGGLE_CO_TRY(auto const body, co_await read_frame(stream, kMaxToken, deadline));
  WAGGLE_CO_TRY(auto const text, decode(body));
  co_return std::string(text);
}

Co<Status> read_header(Stream& stream, TimePoint deadline) {
  WAGGLE_CO_TRY(auto const header, co_await read_token(stream, deadline));
  if (header != kHeader) co_return Error{Errc::malformed, "the peer does not speak multistream"};
  co_return ok();
}

}  // namespace

Bytes encode(std::string_view text) {
  WAGGLE_ASSERT(text.size() < kMaxToken, "a protocol name of ", text.size(), " bytes");
  Bytes token;
  token.reserve(text.size() + 3);
  wire::append_varint(token, text.size() + 1);
  append(token, as_bytes(text));
  token.push_back(std::byte{'\n'});
  return token;
}

Result<std::string_view> decode(ByteView body) {
  if (body.empty() || body.back() != std::byte{'\n'})
    return Error{Errc::malformed, "a multistream token without its newline"};
  return as_text(body.first(body.size() - 1));
}

Bytes opening(std::string_view protocol) {
  Bytes both = encode(kHeader);
  append(both, encode(protocol));
  return both;
}

Co<Status> read_acceptance(Stream& stream, std::string protocol, TimePoint deadline) {
  WAGGLE_CO_TRY_STATUS(co_await read_header(stream, deadline));
  WAGGLE_CO_TRY(auto const reply, co_await read_token(stream, deadline));
  if (reply == kNotAvailable) co_return Error{Errc::refused, cat("not served: ", protocol)};
  if (reply != protocol)
    co_return Error{Errc::malformed, cat("proposed ", protocol, ", answered was something else")};
  co_return ok();
}

Co<Status> propose(Stream& stream, std::string protocol, TimePoint deadline) {
  Bytes const bytes = opening(protocol);
  WAGGLE_CO_TRY_STATUS(co_await stream.write(bytes, deadline));
  co_return co_await read_acceptance(stream, std::move(protocol), deadline);
}

Co<Result<std::string>> answer(Stream& stream,
                               std::function<bool(std::string_view)> serves,
                               TimePoint deadline) {
  Bytes const header = encode(kHeader);
  WAGGLE_CO_TRY_STATUS(co_await stream.write(header, deadline));
  WAGGLE_CO_TRY_STATUS(co_await read_header(stream, deadline));
  for (int i = 0; i < kMaxProposals; ++i) {
    WAGGLE_CO_TRY(auto proposal, co_await read_token(stream, deadline));
    bool const served = serves(proposal);
    std::string_view const reply = served ? std::string_view(proposal) : kNotAvailable;
    Bytes const token = encode(reply);
    auto const written = co_await stream.write(token, deadline);
    // A lazy opener may have stopped reading already; its request still counts.
    if (!written && written.error().code != Errc::closed) co_return written.error();
    if (served) co_return std::move(proposal);
    if (!written) co_return written.error();
  }
  co_return Error{Errc::refused, cat("none of ", kMaxProposals, " proposals is served")};
}

}  // namespace waggle::net::multistream
