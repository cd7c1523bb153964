// SPDX-License-Identifier: MIT
#include "core/crypto/detail/curve.hpp"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include "core/base/assert.hpp"

namespace waggle::crypto::detail {
namespace {

struct Free {
  void operator()(EC_GROUP* p) const noexcept { EC_GROUP_free(p); }

  void operator()(EC_POINT* p) const noexcept { EC_POINT_free(p); }

  void operator()(BIGNUM* p) const noexcept { BN_clear_free(p); }

  void operator()(ECDSA_SIG* p) const noexcept { ECDSA_SIG_free(p); }

  void operator()(OSSL_PARAM_BLD* p) const noexcept { OSSL_PARAM_BLD_free(p); }

  void operator()(OSSL_PARAM* p) const noexcept { OSSL_PARAM_free(p); }
};

template <class T>
using Owned = std::unique_ptr<T, Free>;

EC_GROUP const* group() {
  static Owned<EC_GROUP> const made(EC_GROUP_new_by_curve_name(NID_secp256k1));
  WAGGLE_ASSERT(made != nullptr, "libcrypto lacks secp256k1");
  return made.get();
}

Pkey from_parameters(int selection, ByteView point, BIGNUM const* scalar) {
  Owned<OSSL_PARAM_BLD> const builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "secp256k1", 0);
  OSSL_PARAM_BLD_push_octet_string(
      builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  if (scalar != nullptr) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  Owned<OSSL_PARAM> const parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  PkeyContext const context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, selection, parameters.get()) != 1)
    return nullptr;
  return Pkey(key);
}

}  // namespace

Pkey secp256k1_public(ByteView point) {
  ErrorQueueGuard const guard;
  if (point.size() != kSecp256k1PointBytes) return nullptr;
  return from_parameters(EVP_PKEY_PUBLIC_KEY, point, nullptr);
}

Pkey secp256k1_private(ByteView scalar, Bytes& point) {
  ErrorQueueGuard const guard;
  if (scalar.size() != kSecp256k1ScalarBytes) return nullptr;
  Owned<BIGNUM> const number(BN_bin2bn(as_u8(scalar), static_cast<int>(scalar.size()), nullptr));
  if (BN_is_zero(number.get()) || BN_cmp(number.get(), EC_GROUP_get0_order(group())) >= 0)
    return nullptr;
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  Owned<EC_POINT> const product(EC_POINT_new(group()));
  point.resize(kSecp256k1PointBytes);
  bool const made =
      EC_POINT_mul(group(), product.get(), number.get(), nullptr, nullptr, nullptr) == 1 &&
      EC_POINT_point2oct(group(),
                         product.get(),
                         POINT_CONVERSION_COMPRESSED,
                         as_u8(MutableBytes(point)),
                         point.size(),
                         nullptr) == point.size();
  WAGGLE_ASSERT(made, "libcrypto cannot multiply on secp256k1");
  return from_parameters(EVP_PKEY_KEYPAIR, point, number.get());
}

Bytes with_low_s(Bytes signature) {
  auto const* at = as_u8(ByteView(signature));
  Owned<ECDSA_SIG> const parsed(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(signature.size())));
  WAGGLE_ASSERT(parsed != nullptr, "our own signature does not parse");
  BIGNUM const* r = nullptr;
  BIGNUM const* s = nullptr;
  ECDSA_SIG_get0(parsed.get(), &r, &s);
  Owned<BIGNUM> low(BN_new());
  BN_sub(low.get(), EC_GROUP_get0_order(group()), s);
  if (BN_cmp(low.get(), s) >= 0) return signature;
  ECDSA_SIG_set0(parsed.get(), BN_dup(r), low.release());
  signature.resize(static_cast<std::size_t>(i2d_ECDSA_SIG(parsed.get(), nullptr)));
  auto* out = as_u8(MutableBytes(signature));
  i2d_ECDSA_SIG(parsed.get(), &out);
  return signature;
}

}  // namespace waggle::crypto::detail
