// SPDX-License-Identifier: MIT
#include "core/crypto/record_key.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/crypto/multibase.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using crypto::RecordKey;
using crypto::verify_record;

namespace {

void put_field(Bytes& out, ByteView field) {
  auto const at = out.size();
  out.resize(at + 4);
  store_be(MutableBytes(out).subspan(at), static_cast<std::uint32_t>(field.size()));
  append(out, field);
}

// An OpenSSH line of any numbers.
std::string line(std::string_view algorithm, ByteView e, ByteView n) {
  Bytes blob;
  put_field(blob, as_bytes(algorithm));
  put_field(blob, e);
  put_field(blob, n);
  return "ssh-rsa " + crypto::base64_encode(blob);
}

}  // namespace

TEST_SUITE("RecordKey") {
  TEST_CASE("signs what verifies under its own line, with a comment or without") {
    auto const key = RecordKey::generate();
    auto const other = RecordKey::generate();
    auto const text = as_bytes("progress");
    auto const signature = key.sign(text);
    CHECK(signature.size() == 256);
    CHECK(key.sign(text) != signature);  // the salt is random
    CHECK(key.openssh_public().starts_with("ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB"));
    CHECK(verify_record(key.openssh_public(), text, signature));
    CHECK(verify_record(key.openssh_public() + " user@host", text, signature));
    CHECK(verify_record(other.openssh_public(), text, signature).error().code ==
          Errc::bad_signature);
    CHECK(verify_record(key.openssh_public(), as_bytes("Progress"), signature).error().code ==
          Errc::bad_signature);
    CHECK(!verify_record(key.openssh_public(), text, ByteView(signature).first(255)));
    CHECK(!verify_record(key.openssh_public(), text, {}));
  }

  TEST_CASE("its file is its PKCS#1 form and gives it back") {
    test::TempFolder const folder;
    auto const path = folder.path() / "record.key";
    auto const made = RecordKey::load_or_create(path);
    REQUIRE(made);
    auto const loaded = RecordKey::load_or_create(path);
    REQUIRE(loaded);
    CHECK(loaded->openssh_public() == made->openssh_public());
    CHECK(*read_file(path, 4096) == made->to_der());
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    auto broken = made->to_der();
    broken[60] ^= std::byte{1};
    CHECK(RecordKey::from_der(broken).error().code == Errc::malformed);
    broken = made->to_der();
    broken.push_back(std::byte{0});
    CHECK(!RecordKey::from_der(broken));
  }

  TEST_CASE("strangers' lines that are no RSA keys are malformed, however odd their numbers") {
    Bytes const e{std::byte{1}, std::byte{0}, std::byte{1}};
    Bytes n(257, std::byte{0xff});
    n[0] = std::byte{0};
    REQUIRE(verify_record(line("ssh-rsa", e, n), as_bytes("x"), Bytes(256)).error().code ==
            Errc::bad_signature);

    Bytes even = n;
    even.back() = std::byte{0xfe};
    Bytes const one{std::byte{1}};
    Bytes const two{std::byte{2}};
    Bytes const zero{std::byte{0}};
    Bytes small(64, std::byte{0x7f});
    Bytes large(1025, std::byte{0x7f});
    std::string const bad[] = {
        "",
        "ssh-rsa",
        "ssh-rsa ",
        "ssh-rsaAAAA",
        "ssh-rsa AAAA",
        "ssh-rsa !!!!",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJUD",
        line("ssh-dss", e, n),
        line("ssh-rsa", e, even),
        line("ssh-rsa", one, n),
        line("ssh-rsa", two, n),
        line("ssh-rsa", zero, n),
        line("ssh-rsa", {}, n),
        line("ssh-rsa", n, n),
        line("ssh-rsa", e, {}),
        line("ssh-rsa", e, ByteView(n).subspan(1)),  // negative
        line("ssh-rsa", e, small),
        line("ssh-rsa", e, large),
        "ssh-rsa " + std::string(1'000'000, 'A'),
    };
    for (auto const& text : bad) {
      CAPTURE(text.substr(0, 60));
      auto const verified = verify_record(text, as_bytes("x"), Bytes(256));
      REQUIRE(!verified);
      CHECK(verified.error().code == Errc::malformed);
    }
  }
}
