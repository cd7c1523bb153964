// SPDX-License-Identifier: MIT
#include "core/crypto/record_key.hpp"

#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include "core/base/assert.hpp"
#include "core/base/file.hpp"
#include "core/crypto/detail/evp.hpp"
#include "core/crypto/detail/secret.hpp"
#include "core/crypto/multibase.hpp"

namespace waggle::crypto {
namespace {

constexpr std::string_view kAlgorithm = "ssh-rsa";
constexpr unsigned kGeneratedBits = 2048;  // what hivemind makes
// Strangers' keys. hivemind itself takes any size; larger ones only make a verification slow.
constexpr int kMinBits = 1024;
constexpr int kMaxBits = 8192;
constexpr std::size_t kMaxOpensshText = 4096;

struct Free {
  void operator()(BIGNUM* p) const noexcept { BN_free(p); }

  void operator()(OSSL_PARAM_BLD* p) const noexcept { OSSL_PARAM_BLD_free(p); }

  void operator()(OSSL_PARAM* p) const noexcept { OSSL_PARAM_free(p); }
};

template <class T>
using Owned = std::unique_ptr<T, Free>;

Error malformed(std::string_view what) {
  return Error{Errc::malformed, cat("record key: ", what)};
}

// OpenSSH's strings and big numbers carry their length in four big-endian bytes.
void put_field(Bytes& out, ByteView field) {
  auto const at = out.size();
  out.resize(at + 4);
  store_be(MutableBytes(out).subspan(at), static_cast<std::uint32_t>(field.size()));
  append(out, field);
}

void put_number(Bytes& out, EVP_PKEY const& key, char const* name) {
  BIGNUM* raw = nullptr;
  WAGGLE_ASSERT(EVP_PKEY_get_bn_param(&key, name, &raw) == 1, "libcrypto hides ", name);
  Owned<BIGNUM> const number(raw);
  // One zero byte in front, which belongs to the form where the first bit is set.
  Bytes bytes(static_cast<std::size_t>(BN_num_bytes(number.get())) + 1);
  BN_bn2bin(number.get(), as_u8(MutableBytes(bytes)) + 1);
  bool const sign_bit = (bytes[1] & std::byte{0x80}) != std::byte{0};
  put_field(out, ByteView(bytes).subspan(sign_bit ? 0 : 1));
}

std::string to_openssh(EVP_PKEY const& key) {
  Bytes blob;
  put_field(blob, as_bytes(kAlgorithm));
  put_number(blob, key, OSSL_PKEY_PARAM_RSA_E);
  put_number(blob, key, OSSL_PKEY_PARAM_RSA_N);
  return cat(kAlgorithm, " ", base64_encode(blob));
}

Result<ByteView> take_field(ByteView& in) {
  if (in.size() < 4) return malformed("a field is cut off");
  auto const size = load_be<std::uint32_t>(in);
  in = in.subspan(4);
  if (size > in.size())
    return malformed(cat("a field of ", size, " bytes, ", in.size(), " are left"));
  auto const field = in.first(size);
  in = in.subspan(size);
  return field;
}

Result<Owned<BIGNUM>> take_number(ByteView& in) {
  WAGGLE_TRY(auto const field, take_field(in));
  if (field.empty() || (field[0] & std::byte{0x80}) != std::byte{0})
    return malformed("a number is not positive");
  return Owned<BIGNUM>(BN_bin2bn(as_u8(field), static_cast<int>(field.size()), nullptr));
}

Result<detail::Pkey> rsa_public(BIGNUM const* n, BIGNUM const* e) {
  detail::ErrorQueueGuard const guard;
  Owned<OSSL_PARAM_BLD> const builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e);
  Owned<OSSL_PARAM> const parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  detail::PkeyContext const context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return malformed("libcrypto takes no such RSA key");
  return detail::Pkey(key);
}

// "ssh-rsa BASE64", perhaps with a comment behind.
Result<Bytes> openssh_blob(std::string_view text) {
  if (text.size() > kMaxOpensshText)
    return malformed(cat(text.size(), " letters, at most ", kMaxOpensshText));
  if (!text.starts_with(kAlgorithm)) return malformed("not an ssh-rsa line");
  text.remove_prefix(kAlgorithm.size());
  auto const start = text.find_first_not_of(" \t");
  if (start == 0 || start == std::string_view::npos) return malformed("nothing behind ssh-rsa");
  text.remove_prefix(start);
  return base64_decode(text.substr(0, text.find_first_of(" \t\r\n")));
}

Result<detail::Pkey> parse_openssh(std::string_view text) {
  WAGGLE_TRY(auto const blob, openssh_blob(text));
  ByteView rest(blob);
  WAGGLE_TRY(auto const algorithm, take_field(rest));
  if (as_text(algorithm) != kAlgorithm)
    return malformed("the line and its content name two algorithms");
  WAGGLE_TRY(auto const e, take_number(rest));
  WAGGLE_TRY(auto const n, take_number(rest));
  if (!rest.empty()) return malformed("bytes follow the modulus");
  int const bits = BN_num_bits(n.get());
  if (bits < kMinBits || bits > kMaxBits)
    return malformed(cat("RSA of ", bits, " bits, not ", kMinBits, " to ", kMaxBits));
  if (!BN_is_odd(n.get()) || !BN_is_odd(e.get()) || BN_is_one(e.get()) ||
      BN_cmp(e.get(), n.get()) >= 0)
    return malformed("no RSA modulus and exponent");
  return rsa_public(n.get(), e.get());
}

}  // namespace

struct RecordKey::State {
  explicit State(detail::Pkey pkey) : key(std::move(pkey)), openssh(to_openssh(*key)) {}

  detail::Pkey key;
  std::string openssh;
};

RecordKey::RecordKey(std::unique_ptr<State> state) : state_(std::move(state)) {
}

RecordKey::RecordKey(RecordKey&&) noexcept = default;
RecordKey& RecordKey::operator=(RecordKey&&) noexcept = default;
RecordKey::~RecordKey() = default;

RecordKey RecordKey::generate() {
  detail::Pkey key(EVP_RSA_gen(kGeneratedBits));
  WAGGLE_ASSERT(key != nullptr, "libcrypto cannot make an RSA key");
  return RecordKey(std::make_unique<State>(std::move(key)));
}

Result<RecordKey> RecordKey::load_or_create(std::filesystem::path const& path) {
  auto const stored = detail::read_secret(path);
  if (stored) {
    auto key = from_der(stored->view());
    if (!key) key.error().detail += cat(" (", path.string(), ")");
    return key;
  }
  if (stored.error().code != Errc::not_found) return stored.error();
  auto key = generate();
  detail::SecretBytes const der(key.to_der());
  WAGGLE_TRY_STATUS(write_file(path, der.view(), FileMode::secret));
  return key;
}

Result<RecordKey> RecordKey::from_der(ByteView pkcs1) {
  auto key = detail::parse_private(EVP_PKEY_RSA, pkcs1);
  if (!key) return malformed("no PKCS#1 RSA private key");
  int const bits = EVP_PKEY_get_bits(key.get());
  if (bits < kMinBits || bits > kMaxBits)
    return malformed(cat("RSA of ", bits, " bits, not ", kMinBits, " to ", kMaxBits));
  return RecordKey(std::make_unique<State>(std::move(key)));
}

std::string const& RecordKey::openssh_public() const noexcept {
  return state_->openssh;
}

Bytes RecordKey::sign(ByteView message) const {
  return detail::sign_sha256(*state_->key, message, detail::Padding::pss_longest_salt);
}

Bytes RecordKey::to_der() const {
  return detail::to_traditional_der(*state_->key);
}

Status verify_record(std::string_view openssh_public, ByteView message, ByteView signature) {
  WAGGLE_TRY(auto const key, parse_openssh(openssh_public));
  if (!detail::verify_sha256(*key, message, signature, detail::Padding::pss_longest_salt))
    return Error{Errc::bad_signature, "the record's signature does not match its owner"};
  return ok();
}

}  // namespace waggle::crypto
