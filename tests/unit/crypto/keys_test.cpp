// SPDX-License-Identifier: MIT
#include "core/crypto/keys.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/crypto/peer_id.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/support/vectors.hpp"

using namespace waggle;
using crypto::Identity;
using crypto::KeyType;
using crypto::PublicKey;

namespace {

mode_t mode_of(std::filesystem::path const& path) {
  struct stat info {};

  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

// A key message written by hand, so that nothing of ours is tested against itself.
Bytes message(unsigned type, ByteView data) {
  Bytes out{std::byte{0x08}, static_cast<std::byte>(type), std::byte{0x12}};
  if (data.size() >= 0x80) out.push_back(static_cast<std::byte>(data.size() | 0x80));
  out.push_back(static_cast<std::byte>(data.size() >= 0x80 ? data.size() >> 7 : data.size()));
  append(out, data);
  return out;
}

Bytes vector_key(std::size_t i, char const* field) {
  return test::unhex(test::vectors("libp2p").at("keys").at(i).at(field));
}

constexpr std::size_t kSecp256k1 = 3;
constexpr std::size_t kRsa = 4;
constexpr std::size_t kEcdsa = 5;

}  // namespace

TEST_SUITE("PublicKey") {
  TEST_CASE("fields in any order, twice, with strangers between, make the same id") {
    auto const identity = Identity::generate();
    auto const data = to_bytes(identity.public_key().data());
    // 3 = text, 5 = 32 bit, 5 = 64 bit, 6 = varint, 2 = one wrong byte, then the key and two types.
    Bytes odd = *from_hex(
        "1a036162632ddeadbeef290102030405060708300512"
        "01ff"
        "1220");
    append(odd, data);
    append(odd, *from_hex("08000801"));
    auto const key = PublicKey::from_protobuf(odd);
    REQUIRE_MESSAGE(key.has_value(), key.error().detail);
    CHECK(key->peer_id() == identity.peer_id());
    CHECK(key->to_protobuf() == message(1, data));
  }

  TEST_CASE("broken messages are malformed") {
    for (auto const* hex : {"",
                            "0801",
                            "1220",
                            "08",
                            "0880808080808080808080011200",
                            "0804120101",
                            "0801120101",
                            "08011a0101",
                            "0801122001",
                            "08011221",
                            "0009",
                            "0801130101",
                            "080112ffffffffffffffffff01"}) {
      CAPTURE(hex);
      auto const key = PublicKey::from_protobuf(*from_hex(hex));
      REQUIRE(!key);
      CHECK(key.error().code == Errc::malformed);
      CHECK(!Identity::from_protobuf(*from_hex(hex)));
    }
  }

  TEST_CASE("an Ed25519 key has 32 bytes and verifies only its own signatures") {
    CHECK(!PublicKey::from_protobuf(message(1, Bytes(31))));
    CHECK(!PublicKey::from_protobuf(message(1, Bytes(33))));
    auto const one = Identity::generate();
    auto const two = Identity::generate();
    CHECK(one.peer_id() != two.peer_id());
    auto const text = as_bytes("nectar");
    auto const signature = one.sign(text);
    CHECK(one.public_key().verify(text, signature));
    CHECK(two.public_key().verify(text, signature).error().code == Errc::bad_signature);
    CHECK(!one.public_key().verify(text, ByteView(signature).first(63)));
    CHECK(!one.public_key().verify(text, {}));
  }

  TEST_CASE("an RSA key below 2048 bits is refused, one with bytes behind it malformed") {
    auto const small = *from_hex(
        "30819f300d06092a864886f70d010101050003818d0030818902818100d769ac8b4663a318d3ce768ba0cbcc91"
        "6dd3d3cf1ec9958d0c8d1f"
        "9dabdbfba0cab364e47ec391ebaec2bec29ab2bc3608a7c5ccfaf5f219a169e349fe696ff485a17ceb23606f53"
        "18cece05cb440aebf07f25"
        "c432867254b1c1d70e263dcea1f65befe4642c9a78530c22f990e92f03ea7d4dab674d94607973c6062d4efe9d"
        "0203010001");
    CHECK(PublicKey::from_protobuf(message(0, small)).error().code == Errc::refused);
    auto longer = vector_key(kRsa, "public_key_data");
    CHECK(PublicKey::from_protobuf(message(0, longer)));
    longer.push_back(std::byte{0});
    CHECK(PublicKey::from_protobuf(message(0, longer)).error().code == Errc::malformed);
    CHECK(PublicKey::from_protobuf(message(0, Bytes(5000))).error().code == Errc::malformed);
  }

  TEST_CASE("a key of one type under another type's number is malformed") {
    auto const p384 = *from_hex(
        "3076301006072a8648ce3d020106052b8104002203620004eb2065afcc64da06fbc3f4e940f9a0de692103a073"
        "e475dc330ac54a33e9de6d"
        "d6e33298775d011541dbdb763e9fa9766a6837355ec5828808be761d7c2d8d2e1852e68f40893a24b1494b0c42"
        "d0ee2bde7f44978bed4a83"
        "f8b4f7b37e8b0713");
    auto const secp256k1_spki = *from_hex(
        "3056301006072a8648ce3d020106052b8104000a03420004bf6f1119a4c66fdfad3fb673b8770f4b9d9b725c1c"
        "0120c44d64e6b087ac176a"
        "62c163d6a5c6c99d00ce38d9b04e768cb57a3eebabbff43b8b13f425eb1c45d5");
    CHECK(PublicKey::from_protobuf(message(3, p384)));
    CHECK(PublicKey::from_protobuf(message(3, secp256k1_spki)).error().code == Errc::malformed);
    CHECK(PublicKey::from_protobuf(message(0, p384)).error().code == Errc::malformed);
    CHECK(PublicKey::from_protobuf(message(3, vector_key(kRsa, "public_key_data"))).error().code ==
          Errc::malformed);
    CHECK(PublicKey::from_protobuf(message(2, Bytes(33))).error().code == Errc::malformed);
  }

  TEST_CASE("a point that is not on secp256k1 is malformed") {
    auto point = vector_key(kSecp256k1, "public_key_data");
    CHECK(PublicKey::from_protobuf(message(2, point)));
    // y² = 5³ + 7 has no root in the field.
    std::fill(point.begin() + 1, point.end(), std::byte{0});
    point.back() = std::byte{5};
    CHECK(PublicKey::from_protobuf(message(2, point)).error().code == Errc::malformed);
    point[0] = std::byte{4};
    CHECK(PublicKey::from_protobuf(message(2, point)).error().code == Errc::malformed);
  }

  TEST_CASE("a key made without checks verifies nothing") {
    for (auto const type : {KeyType::rsa, KeyType::ed25519, KeyType::secp256k1, KeyType::ecdsa})
      CHECK(!PublicKey(type, Bytes(7)).verify(as_bytes("x"), Bytes(64)));
  }

  TEST_CASE("an id gives its key back only in the key's one spelling") {
    auto const identity = Identity::generate();
    CHECK(PublicKey::from_peer_id(identity.peer_id()) == identity.public_key());
    CHECK(!PublicKey::from_peer_id(PeerId{}));
    // The same key with its two fields swapped: another multihash, so nobody's id.
    Bytes swapped{std::byte{0x00}, std::byte{0x24}, std::byte{0x12}, std::byte{0x20}};
    append(swapped, identity.public_key().data());
    append(swapped, *from_hex("0801"));
    auto const id = crypto::peer_id_from_bytes(swapped);
    REQUIRE(id);
    CHECK(!PublicKey::from_peer_id(*id));
  }
}

TEST_SUITE("Identity") {
  TEST_CASE("secp256k1 signatures have the low s that other implementations demand") {
    auto const identity = Identity::from_protobuf(vector_key(kSecp256k1, "private_key_protobuf"));
    REQUIRE(identity);
    for (int i = 0; i < 32; ++i) {
      Bytes const text{static_cast<std::byte>(i)};
      auto const signature = identity->sign(text);
      CHECK(identity->public_key().verify(text, signature));
      // DER: 30 len 02 rlen r 02 slen s. Half the order begins with 7f ff…, so a high s is 33 bytes
      // or at least that.
      auto const r_size = std::to_integer<std::size_t>(signature[3]);
      auto const s_size = std::to_integer<std::size_t>(signature[5 + r_size]);
      CHECK(s_size <= 32);
      CHECK(signature.size() == 6 + r_size + s_size);
    }
  }

  TEST_CASE("scalars of zero and beyond the order are malformed") {
    CHECK(!Identity::from_protobuf(message(2, Bytes(32))));
    CHECK(!Identity::from_protobuf(message(2, Bytes(32, std::byte{0xff}))));
    CHECK(!Identity::from_protobuf(message(2, Bytes(31, std::byte{1}))));
  }

  TEST_CASE("halves that do not belong together are malformed") {
    auto rsa = vector_key(kRsa, "private_key_protobuf");
    rsa[40] ^= std::byte{4};  // inside the modulus
    CHECK(Identity::from_protobuf(rsa).error().code == Errc::malformed);
    auto const ecdsa = vector_key(kEcdsa, "private_key_protobuf");
    CHECK(Identity::from_protobuf(ecdsa));
    auto const seed = Identity::from_seed(std::array<std::byte, 32>{});
    auto ed25519 = seed.to_protobuf();
    ed25519.back() ^= std::byte{1};
    CHECK(Identity::from_protobuf(ed25519).error().code == Errc::malformed);
  }

  TEST_CASE("a fresh file is 0600 and gives the same identity again") {
    test::TempFolder const folder;
    auto const path = folder.path() / "identity.key";
    auto const made = Identity::load_or_create(path);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    CHECK(mode_of(path) == 0600);
    auto const loaded = Identity::load_or_create(path);
    REQUIRE(loaded);
    CHECK(loaded->peer_id() == made->peer_id());
    CHECK(loaded->sign(as_bytes("x")) == made->sign(as_bytes("x")));
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder.path()))
      files += entry.exists() ? 1 : 0;
    CHECK(files == 1);
  }

  TEST_CASE("a file that others may read is tightened, a stricter one left alone") {
    test::TempFolder const folder;
    auto const path = folder.path() / "identity.key";
    REQUIRE(write_file(path, Identity::generate().to_protobuf(), FileMode::shared));
    REQUIRE(mode_of(path) == 0644);
    CHECK(Identity::load_or_create(path));
    CHECK(mode_of(path) == 0600);
    REQUIRE(chmod(path.c_str(), 0400) == 0);
    CHECK(Identity::load_or_create(path));
    CHECK(mode_of(path) == 0400);
  }

  TEST_CASE("a damaged file is an error that names it, and stays as it is") {
    test::TempFolder const folder;
    auto const path = folder.path() / "identity.key";
    REQUIRE(write_file(path, as_bytes("not a key"), FileMode::secret));
    auto const loaded = Identity::load_or_create(path);
    REQUIRE(!loaded);
    CHECK(loaded.error().code == Errc::malformed);
    CHECK(loaded.error().detail.find("identity.key") != std::string::npos);
    CHECK(to_string(*read_file(path, 100)) == "not a key");
    CHECK(Identity::load_or_create(folder.path()).error().code == Errc::io);
    CHECK(!Identity::load_or_create(folder.path() / "missing" / "identity.key"));
  }
}
