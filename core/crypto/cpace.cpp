// SPDX-License-Identifier: MIT
#include "core/crypto/cpace.hpp"

#include <sodium.h>

#include "core/base/assert.hpp"

namespace waggle::crypto {
namespace {

constexpr std::string_view kDomain = "CPaceRistretto255";
constexpr std::string_view kKeyDomain = "CPaceRistretto255_ISK";
constexpr std::size_t kHashBlock = 128;  // SHA-512's

static_assert(crypto_core_ristretto255_BYTES == sizeof(CpacePoint));
static_assert(crypto_core_ristretto255_SCALARBYTES == sizeof(CpaceScalar));
static_assert(crypto_core_ristretto255_HASHBYTES == sizeof(Sha512));
static_assert(crypto_core_ristretto255_NONREDUCEDSCALARBYTES == 64);

// The draft's prepend_len: the length as a LEB128, then the bytes.
void append_counted(Bytes& out, ByteView part) {
  std::size_t size = part.size();
  do {
    auto const low = static_cast<std::uint8_t>(size & 0x7fU);
    size >>= 7;
    out.push_back(static_cast<std::byte>(size == 0 ? low : low | 0x80U));
  } while (size != 0);
  append(out, part);
}

}  // namespace

CpaceScalar cpace_scalar(std::span<std::byte const, 64> entropy) {
  CpaceScalar out{};
  crypto_core_ristretto255_scalar_reduce(as_u8(MutableBytes(out)), as_u8(ByteView(entropy)));
  return out;
}

CpacePoint cpace_generator(ByteView code, ByteView channel, ByteView session) {
  Bytes text;
  append_counted(text, as_bytes(kDomain));
  append_counted(text, code);
  // Zeros until the code fills the hash's first block, so that hashing the rest takes the same time
  // for every code.
  std::size_t const taken = text.size() + 1;
  Bytes const padding(taken < kHashBlock ? kHashBlock - taken : 0);
  append_counted(text, padding);
  append_counted(text, channel);
  append_counted(text, session);
  auto const hash = sha512(text);
  CpacePoint out{};
  WAGGLE_ASSERT(
      crypto_core_ristretto255_from_hash(as_u8(MutableBytes(out)), as_u8(ByteView(hash))) == 0,
      "libsodium cannot map a hash to ristretto255");
  return out;
}

std::optional<CpacePoint> cpace_multiply(CpaceScalar const& secret, CpacePoint const& point) {
  CpacePoint out{};
  if (crypto_scalarmult_ristretto255(
          as_u8(MutableBytes(out)), as_u8(ByteView(secret)), as_u8(ByteView(point))) != 0)
    return std::nullopt;
  return out;
}

Sha512 cpace_key(ByteView session,
                 CpacePoint const& shared,
                 CpacePoint const& a,
                 ByteView said_by_a,
                 CpacePoint const& b,
                 ByteView said_by_b) {
  Bytes text;
  append_counted(text, as_bytes(kKeyDomain));
  append_counted(text, session);
  append_counted(text, shared);
  append_counted(text, a);
  append_counted(text, said_by_a);
  append_counted(text, b);
  append_counted(text, said_by_b);
  auto key = sha512(text);
  sodium_memzero(text.data(), text.size());
  return key;
}

bool same_secret(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace waggle::crypto
