// SPDX-License-Identifier: MIT
#include "core/node/release/notice.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/msgpack.hpp"
#include "core/wire/utf8.hpp"

namespace waggle::node {
namespace {

constexpr std::string_view kDomain = "waggle-release";
constexpr std::string_view kPayloadType = "waggle/release/1";
constexpr std::size_t kMaxVersion = 23;  // four numbers of five digits, and their dots
constexpr std::size_t kMsgpackHead = 5;  // bin 32
constexpr std::size_t kKeyBytes = 32;

Result<ReleaseNotice> from_payload(ByteView payload) {
  WAGGLE_TRY(auto const value, wire::Msgpack::decode(payload));
  auto const* const fields = value.get<wire::Msgpack::Array>();
  if (fields == nullptr || fields->size() != 2)
    return Error{Errc::malformed, "release notice: not an array of version and text"};
  auto const* const version = (*fields)[0].get<std::string>();
  auto const* const text = (*fields)[1].get<std::string>();
  if (version == nullptr || text == nullptr)
    return Error{Errc::malformed, "release notice: version and text must be texts"};
  ReleaseNotice notice{*version, *text};
  if (auto const good = notice.check(); !good)
    return Error{Errc::malformed, cat("release notice: ", good.error().detail)};
  return notice;
}

// With the PeerId of whoever signed it.
Result<std::pair<ReleaseNotice, PeerId>> open_any(ByteView envelope) {
  if (envelope.size() > ReleaseNotice::kMaxBytes)
    return Error{
        Errc::too_large,
        cat("release notice of ", envelope.size(), " bytes, at most ", ReleaseNotice::kMaxBytes)};
  WAGGLE_TRY(auto const opened, wire::Envelope::open(envelope, kDomain, as_bytes(kPayloadType)));
  WAGGLE_TRY(auto notice, from_payload(opened.payload));
  return std::pair(std::move(notice), opened.signer.peer_id());
}

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

Result<ReleaseVersion> ReleaseVersion::parse(std::string_view text) {
  Error const wrong{Errc::invalid,
                    cat("a version is up to four numbers below 65536 with dots between them, as "
                        "in 1.10.2, not \"",
                        utf8_prefix(text, kMaxVersion),
                        text.size() > kMaxVersion ? "…\"" : "\"")};
  ReleaseVersion version;
  std::size_t part = 0;
  if (text.size() > kMaxVersion) return wrong;
  for (;;) {
    auto const dot = text.find('.');
    auto const digits = text.substr(0, dot);
    if (part == version.parts_.size() || digits.empty()) return wrong;
    auto const* const end = digits.data() + digits.size();
    auto const [stop, ec] = std::from_chars(digits.data(), end, version.parts_.at(part++));
    if (ec != std::errc{} || stop != end) return wrong;
    if (dot == std::string_view::npos) return version;
    text.remove_prefix(dot + 1);
  }
}

std::uint64_t ReleaseVersion::number() const noexcept {
  std::uint64_t all = 0;
  for (auto const part : parts_) all = all << 16 | part;
  return all;
}

Status ReleaseNotice::check() const {
  WAGGLE_TRY_STATUS(ReleaseVersion::parse(version));
  if (text.size() > kMaxText)
    return Error{Errc::too_large, cat("the text has ", text.size(), " bytes, at most ", kMaxText)};
  bool const one_line =
      std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (text.empty() || !one_line || !wire::is_utf8(text))
    return Error{Errc::invalid, "the text must be one line of UTF-8"};
  auto const small = lower(text);
  if (small.find("://") != std::string::npos || small.find("www.") != std::string::npos)
    return Error{Errc::invalid, "the text must name no address of the web"};
  return ok();
}

Result<Bytes> ReleaseNotice::seal(crypto::Identity const& key) const {
  WAGGLE_TRY_STATUS(check());
  wire::Msgpack::Array fields;
  fields.emplace_back(version);
  fields.emplace_back(text);
  return wire::Envelope::seal(
      key, kDomain, as_bytes(kPayloadType), wire::Msgpack(std::move(fields)).encode());
}

Result<ReleaseNotice> ReleaseNotice::open(ByteView envelope, PeerId const& expected) {
  WAGGLE_TRY(auto opened, open_any(envelope));
  if (opened.second != expected)
    return Error{Errc::refused,
                 cat("release notice signed by ",
                     crypto::to_text(opened.second),
                     ", not by ",
                     crypto::to_text(expected))};
  return std::move(opened.first);
}

std::string ReleaseNotice::key_text(PeerId const& release_key) {
  return cat("waggle/release/", crypto::to_text(release_key));
}

Bytes wrap_notice(ByteView envelope) {
  return wire::Msgpack(to_bytes(envelope)).encode();
}

std::optional<Bytes> unwrap_notice(ByteView value) {
  if (value.size() > ReleaseNotice::kMaxBytes + kMsgpackHead) return std::nullopt;
  auto const decoded = wire::Msgpack::decode(value);
  if (!decoded) return std::nullopt;
  auto const* const bin = decoded->get<Bytes>();
  if (bin == nullptr) return std::nullopt;
  return *bin;
}

std::optional<std::uint64_t> ReleaseRule::version(dht::Id const& key, ByteView value) const {
  // Cheap first: a stranger's values come by the thousand.
  if (value.size() > ReleaseNotice::kMaxBytes + kMsgpackHead ||
      as_text(value).find(kPayloadType) == std::string_view::npos)
    return std::nullopt;
  auto const envelope = unwrap_notice(value);
  if (!envelope) return std::nullopt;
  auto const opened = open_any(*envelope);
  if (!opened || dht::Id::of_text(ReleaseNotice::key_text(opened->second)) != key)
    return std::nullopt;
  auto const version = ReleaseVersion::parse(opened->first.version);
  if (!version) return std::nullopt;
  return version->number();
}

Result<PeerId> parse_release_key(std::string_view text) {
  auto const bytes = from_hex(text);
  if (bytes && bytes->size() == kKeyBytes)
    return crypto::PublicKey(crypto::KeyType::ed25519, *bytes).peer_id();
  WAGGLE_TRY(auto const id, crypto::parse_peer_id(text));
  auto const key = crypto::PublicKey::from_peer_id(id);
  if (!key || key->type() != crypto::KeyType::ed25519)
    return Error{Errc::malformed,
                 "a release key is the PeerID of an Ed25519 key (12D3KooW…), or its 32 bytes in "
                 "hex"};
  return id;
}

std::optional<PeerId> release_key() {
  static auto const key = []() -> std::optional<PeerId> {
    constexpr std::string_view kText = WAGGLE_RELEASE_KEY;
    if (kText.empty()) return std::nullopt;
    auto parsed = parse_release_key(kText);
    // CMake lets a PeerID of the right look pass; whoever mistyped one sees it at the first start.
    WAGGLE_ASSERT(parsed.has_value(), "WAGGLE_RELEASE_KEY is no release key: ", kText);
    return *std::move(parsed);
  }();
  return key;
}

}  // namespace waggle::node
