// SPDX-License-Identifier: MIT
#include "core/crypto/hash.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/base/assert.hpp"

namespace waggle::crypto {
namespace {

template <std::size_t N>
std::array<std::byte, N> digest(EVP_MD const* md, ByteView data) {
  std::array<std::byte, N> out{};
  unsigned size = N;
  int const done =
      EVP_Digest(data.data(), data.size(), as_u8(MutableBytes(out)), &size, md, nullptr);
  WAGGLE_ASSERT(done == 1 && size == N, "libcrypto cannot hash");
  return out;
}

}  // namespace

Sha1 sha1(ByteView data) {
  return digest<20>(EVP_sha1(), data);
}

Sha256 sha256(ByteView data) {
  return digest<32>(EVP_sha256(), data);
}

Sha512 sha512(ByteView data) {
  return digest<64>(EVP_sha512(), data);
}

Sha256 hmac_sha256(ByteView key, ByteView data) {
  // HMAC() takes a null key for "the key of before": an empty key needs an address.
  static constexpr std::byte kNoKey{};
  Sha256 out{};
  unsigned size = out.size();
  auto const* const made = HMAC(EVP_sha256(),
                                key.empty() ? &kNoKey : key.data(),
                                static_cast<int>(key.size()),
                                as_u8(data),
                                data.size(),
                                as_u8(MutableBytes(out)),
                                &size);
  WAGGLE_ASSERT(made != nullptr && size == out.size(), "libcrypto cannot make a HMAC");
  return out;
}

bool equal_in_constant_time(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

struct Sha256Stream::State {
  State() : context(EVP_MD_CTX_new()) {
    WAGGLE_ASSERT(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  }

  ~State() { EVP_MD_CTX_free(context); }

  State(State const&) = delete;
  State& operator=(State const&) = delete;

  EVP_MD_CTX* context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
}

Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(ByteView data) {
  WAGGLE_ASSERT(EVP_DigestUpdate(state_->context, data.data(), data.size()) == 1,
                "update after finish");
}

Sha256 Sha256Stream::finish() {
  Sha256 out{};
  unsigned size = out.size();
  WAGGLE_ASSERT(EVP_DigestFinal_ex(state_->context, as_u8(MutableBytes(out)), &size) == 1 &&
                size == 32);
  return out;
}

}  // namespace waggle::crypto
