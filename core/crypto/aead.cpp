// SPDX-License-Identifier: MIT
#include "core/crypto/aead.hpp"

#include <algorithm>
#include <limits>

#include <openssl/evp.h>

#include "core/base/assert.hpp"
#include "core/crypto/detail/evp.hpp"
#include "core/crypto/detail/secret.hpp"

namespace waggle::crypto {
namespace {

constexpr std::size_t kNonceBytes = 12;

using Nonce = std::array<std::byte, kNonceBytes>;

// Noise's nonce: 32 zero bits, then the counter, little-endian.
Nonce layout(std::uint64_t counter) noexcept {
  Nonce nonce{};
  store_le(MutableBytes(nonce).subspan(4), counter);
  return nonce;
}

}  // namespace

// One context a direction, made at first use: setting only the nonce afterwards saves the key
// schedule and the cipher's lookup, which cost more than a small frame's encryption.
struct Aead::State {
  explicit State(std::span<std::byte const, 32> k) { std::copy(k.begin(), k.end(), key.begin()); }

  ~State() { detail::wipe(key); }

  State(State const&) = delete;
  State& operator=(State const&) = delete;

  std::array<std::byte, 32> key;
  detail::CipherContext sealing;
  detail::CipherContext opening;

  EVP_CIPHER_CTX* start(bool encrypt, Nonce const& nonce) {
    auto& context = encrypt ? sealing : opening;
    bool const fresh = context == nullptr;
    if (fresh) context.reset(EVP_CIPHER_CTX_new());
    int const done = EVP_CipherInit_ex(context.get(),
                                       fresh ? EVP_chacha20_poly1305() : nullptr,
                                       nullptr,
                                       fresh ? as_u8(ByteView(key)) : nullptr,
                                       as_u8(ByteView(nonce)),
                                       encrypt ? 1 : 0);
    WAGGLE_ASSERT(done == 1, "libcrypto lacks ChaCha20-Poly1305");
    return context.get();
  }
};

namespace {

void update(EVP_CIPHER_CTX* context, std::uint8_t* out, ByteView in) {
  if (in.empty()) return;  // libcrypto takes an empty one for the end
  WAGGLE_ASSERT(in.size() <= std::numeric_limits<int>::max(), "a frame of ", in.size(), " bytes");
  int written = 0;
  int const done = EVP_CipherUpdate(context, out, &written, as_u8(in), static_cast<int>(in.size()));
  WAGGLE_ASSERT(done == 1, "libcrypto cannot run ChaCha20");
}

}  // namespace

Aead::Aead(std::span<std::byte const, 32> key) : state_(std::make_unique<State>(key)) {
}

Aead::~Aead() = default;
Aead::Aead(Aead&&) noexcept = default;
Aead& Aead::operator=(Aead&&) noexcept = default;

void Aead::seal(std::uint64_t nonce, ByteView associated, ByteView in, MutableBytes out) {
  seal_pieces(nonce, associated, std::span(&in, 1), out);
}

void Aead::seal_pieces(std::uint64_t nonce,
                       ByteView associated,
                       std::span<ByteView const> pieces,
                       MutableBytes out) {
  auto* const context = state_->start(true, layout(nonce));
  update(context, nullptr, associated);
  std::size_t done = 0;
  for (auto const piece : pieces) {
    WAGGLE_ASSERT(
        out.size() - done >= piece.size() + kAeadTagBytes, piece.size(), " to ", out.size());
    update(context, as_u8(out) + done, piece);
    done += piece.size();
  }
  WAGGLE_ASSERT(out.size() == done + kAeadTagBytes, done, " to ", out.size());
  int written = 0;
  auto* const tag = as_u8(out) + done;
  bool const sealed =
      EVP_CipherFinal_ex(context, tag, &written) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kAeadTagBytes), tag) ==
          1;
  WAGGLE_ASSERT(sealed, "libcrypto cannot seal");
}

Status Aead::open(std::uint64_t nonce, ByteView associated, ByteView in, MutableBytes out) {
  if (in.size() < kAeadTagBytes)
    return Error{Errc::malformed, cat("a sealed frame of ", in.size(), " bytes holds no tag")};
  auto const body = in.first(in.size() - kAeadTagBytes);
  WAGGLE_ASSERT(out.size() == body.size(), in.size(), " to ", out.size());
  // libcrypto wants the tag as mutable.
  std::array<std::uint8_t, kAeadTagBytes> tag;
  std::copy_n(as_u8(in) + body.size(), tag.size(), tag.begin());

  auto* const context = state_->start(false, layout(nonce));
  bool const set =
      EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data()) == 1;
  WAGGLE_ASSERT(set, "libcrypto takes no tag");
  update(context, nullptr, associated);
  update(context, as_u8(out), body);
  int written = 0;
  std::uint8_t nothing[1];
  if (EVP_CipherFinal_ex(context, nothing, &written) != 1) {
    detail::ErrorQueueGuard const guard;
    std::fill(out.begin(), out.end(), std::byte{0});  // nobody may act on forged plaintext
    return Error{Errc::bad_signature,
                 cat("the tag of a frame of ", in.size(), " bytes does not match")};
  }
  return ok();
}

}  // namespace waggle::crypto
