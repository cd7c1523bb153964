// SPDX-License-Identifier: MIT
#include "core/node/control/messages.hpp"

#include <algorithm>

#include <zstd.h>

#include "core/base/text.hpp"
#include "core/node/control/proto/control.pb.h"

namespace waggle::node::control {
namespace {

constexpr int kLevel = 3;

// The head of a reply around its largest field.
constexpr std::size_t kReplyHead = 32;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

Bytes serialized(auto const& message) {
  Bytes out(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(as_u8(MutableBytes(out)));
  return out;
}

template <class Message>
Result<Message> parsed(ByteView bytes, std::size_t limit, char const* what) {
  Message message;
  if (bytes.size() > limit)
    return Error{
        Errc::malformed,
        cat("control: a ", what, " of ", bytes.size(), " bytes; at most ", limit, " are read")};
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, cat("control: bad ", what)};
  return message;
}

template <std::size_t N>
Status take(std::string const& field, std::array<std::byte, N>& into, char const* what) {
  if (field.size() != N)
    return Error{Errc::malformed,
                 cat("control: a ", what, " of ", field.size(), " bytes, not ", N)};
  std::memcpy(into.data(), field.data(), N);
  return ok();
}

Result<Right> right_of(std::uint32_t value) {
  if (value != 1 && value != 2) return Error{Errc::malformed, cat("control: right ", value)};
  return static_cast<Right>(value);
}

// A stranger's words for a person's terminal: bounded, UTF-8, one line.
std::string clean_words(std::string_view words) {
  return words.empty() ? std::string() : clean_text(words, kMaxWords);
}

std::string text_of(auto const& bytes) {
  return std::string(as_text(bytes));
}

}  // namespace

Bytes encode(Request const& request) {
  pb::Request message;
  std::visit(Overloaded{
                 [&](Hello const& m) { message.mutable_hello()->set_version(m.version); },
                 [&](PairStart const& m) {
                   message.mutable_pair_start()->set_session(text_of(m.session));
                   message.mutable_pair_start()->set_point(text_of(m.point));
                 },
                 [&](PairProved const& m) {
                   message.mutable_pair_proof()->set_proof(text_of(m.proof));
                   message.mutable_pair_proof()->set_name(m.name);
                 },
                 [&](Next const&) { message.mutable_next(); },
                 [&](Order const& m) {
                   message.mutable_order()->set_id(m.id);
                   message.mutable_order()->set_command(m.command);
                 },
                 [&](Ping const&) { message.mutable_ping(); },
             },
             request);
  return serialized(message);
}

Bytes encode(Reply const& reply) {
  pb::Reply message;
  std::visit(Overloaded{
                 [&](Welcome const& m) {
                   auto& out = *message.mutable_welcome();
                   out.set_version(m.version);
                   out.set_name(m.name);
                   out.set_right(static_cast<std::uint32_t>(m.right));
                 },
                 [&](Refusal const& m) {
                   message.mutable_refusal()->set_why(static_cast<std::uint32_t>(m.why));
                   message.mutable_refusal()->set_words(m.words);
                 },
                 [&](PairAnswer const& m) {
                   message.mutable_pair_answer()->set_point(text_of(m.point));
                   message.mutable_pair_answer()->set_proof(text_of(m.proof));
                 },
                 [&](Paired const& m) {
                   message.mutable_paired()->set_right(static_cast<std::uint32_t>(m.right));
                   message.mutable_paired()->set_name(m.name);
                 },
                 [&](View const& m) { message.mutable_view()->set_zstd(text_of(m.zstd)); },
                 [&](Answer const& m) {
                   auto& out = *message.mutable_answer();
                   out.set_id(m.id);
                   out.set_done(m.done);
                   out.set_words(m.words);
                 },
                 [&](Pong const&) { message.mutable_pong(); },
             },
             reply);
  return serialized(message);
}

Result<Request> decode_request(ByteView bytes) {
  WAGGLE_TRY(auto const message, parsed<pb::Request>(bytes, kMaxRequestBytes, "request"));
  switch (message.what_case()) {
    case pb::Request::kHello:
      return Request(Hello{message.hello().version()});
    case pb::Request::kPairStart: {
      PairStart out;
      WAGGLE_TRY_STATUS(take(message.pair_start().session(), out.session, "session"));
      WAGGLE_TRY_STATUS(take(message.pair_start().point(), out.point, "point"));
      return Request(out);
    }
    case pb::Request::kPairProof: {
      PairProved out;
      WAGGLE_TRY_STATUS(take(message.pair_proof().proof(), out.proof, "proof"));
      out.name = clean_name(message.pair_proof().name());
      return Request(std::move(out));
    }
    case pb::Request::kNext:
      return Request(Next{});
    case pb::Request::kOrder:
      return Request(Order{message.order().id(), message.order().command()});
    case pb::Request::kPing:
      return Request(Ping{});
    case pb::Request::WHAT_NOT_SET:
      break;
  }
  return Error{Errc::malformed, "control: a request of an unknown kind"};
}

Result<Reply> decode_reply(ByteView bytes) {
  WAGGLE_TRY(auto const message, parsed<pb::Reply>(bytes, kMaxReplyBytes, "reply"));
  switch (message.what_case()) {
    case pb::Reply::kWelcome: {
      auto const& in = message.welcome();
      WAGGLE_TRY(auto const right, right_of(in.right()));
      return Reply(Welcome{in.version(), clean_name(in.name()), right});
    }
    case pb::Reply::kRefusal: {
      auto const why = message.refusal().why();
      if (why < 1 || why > 6) return Error{Errc::malformed, cat("control: refusal ", why)};
      return Reply(Refusal{static_cast<Why>(why), clean_words(message.refusal().words())});
    }
    case pb::Reply::kPairAnswer: {
      PairAnswer out;
      WAGGLE_TRY_STATUS(take(message.pair_answer().point(), out.point, "point"));
      WAGGLE_TRY_STATUS(take(message.pair_answer().proof(), out.proof, "proof"));
      return Reply(out);
    }
    case pb::Reply::kPaired: {
      WAGGLE_TRY(auto const right, right_of(message.paired().right()));
      return Reply(Paired{right, clean_name(message.paired().name())});
    }
    case pb::Reply::kView:
      return Reply(View{to_bytes(message.view().zstd())});
    case pb::Reply::kAnswer: {
      auto const& in = message.answer();
      return Reply(Answer{in.id(), in.done(), clean_words(in.words())});
    }
    case pb::Reply::kPong:
      return Reply(Pong{});
    case pb::Reply::WHAT_NOT_SET:
      break;
  }
  return Error{Errc::malformed, "control: a reply of an unknown kind"};
}

Result<View> pack(std::string_view json) {
  View view;
  view.zstd.resize(ZSTD_compressBound(json.size()));
  auto const n =
      ZSTD_compress(view.zstd.data(), view.zstd.size(), json.data(), json.size(), kLevel);
  constexpr std::size_t kMost = kMaxReplyBytes - kReplyHead;
  if (ZSTD_isError(n) != 0 || n > kMost || json.size() > kMaxSnapshotBytes)
    return Error{Errc::too_large,
                 cat("a snapshot of ", json.size(), " bytes does not fit into ", kMost)};
  view.zstd.resize(n);
  return view;
}

Result<std::string> unpack(View const& view) {
  auto const& in = view.zstd;
  auto const size = ZSTD_getFrameContentSize(in.data(), in.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size > kMaxSnapshotBytes)
    return Error{
        Errc::malformed,
        cat("control: a snapshot that does not declare at most ", kMaxSnapshotBytes, " bytes")};
  if (ZSTD_findFrameCompressedSize(in.data(), in.size()) != in.size())
    return Error{Errc::malformed, "control: more or less than one frame"};
  std::string json(static_cast<std::size_t>(size), '\0');
  // The output buffer bounds what is decoded, whatever the frame goes on to hold.
  auto const n = ZSTD_decompress(json.data(), json.size(), in.data(), in.size());
  if (ZSTD_isError(n) != 0 || n != json.size())
    return Error{Errc::malformed, "control: a snapshot that does not decode"};
  return json;
}

}  // namespace waggle::node::control
