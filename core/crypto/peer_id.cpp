// SPDX-License-Identifier: MIT
#include "core/crypto/peer_id.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/crypto/multibase.hpp"

namespace waggle::crypto {
namespace {

constexpr std::byte kIdentity{0x00};
constexpr std::byte kSha256{0x12};
constexpr std::size_t kSha256Bytes = 32;
// CIDv1 with the codec libp2p-key, ahead of the multihash.
constexpr std::byte kCidVersion{0x01};
constexpr std::byte kLibp2pKey{0x72};
constexpr std::size_t kMaxText = 128;  // the longest CID form of 44 bytes takes 89 letters

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("peer id: ", what)};
}

}  // namespace

std::string to_text(PeerId const& id) {
  return base58_encode(id.bytes());
}

Result<PeerId> parse_peer_id(std::string_view text) {
  if (text.size() > kMaxText) return malformed(cat(text.size(), " letters, at most ", kMaxText));
  if (text.starts_with('1') || text.starts_with("Qm")) {
    WAGGLE_TRY(auto const multihash, base58_decode(text));
    return peer_id_from_bytes(multihash);
  }
  WAGGLE_TRY(auto const cid, multibase_decode(text));
  if (cid.size() < 2 || cid[0] != kCidVersion || cid[1] != kLibp2pKey)
    return malformed("neither base58 nor a CIDv1 of a libp2p key");
  return peer_id_from_bytes(ByteView(cid).subspan(2));
}

Result<PeerId> peer_id_from_bytes(ByteView multihash) {
  if (multihash.size() < 3) return malformed(cat(multihash.size(), " bytes are too few"));
  auto const code = multihash[0];
  auto const length = std::to_integer<std::size_t>(multihash[1]);
  if (code != kIdentity && code != kSha256)
    return malformed("hash function is neither identity nor sha2-256");
  if (length != multihash.size() - 2 || (code == kSha256 && length != kSha256Bytes))
    return malformed(cat("length ", length, " does not fit ", multihash.size(), " bytes"));
  auto const id = PeerId::from_bytes(multihash);
  if (!id) return malformed(cat(multihash.size(), " bytes, at most ", PeerId::kMaxSize));
  return *id;
}

std::string short_text(PeerId const& id) {
  constexpr std::size_t kLetters = 6;
  auto const text = to_text(id);
  return "…" + text.substr(text.size() - std::min(text.size(), kLetters));
}

}  // namespace waggle::crypto
