// SPDX-License-Identifier: MIT
#include "core/dht/validators.hpp"

#include <doctest/doctest.h>

#include "core/crypto/record_key.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

/// Appends a letter when it signs, demands it when it validates, and takes it off again.
class Letter final : public Validator {
 public:
  Letter(int priority, char letter)
      : priority_(priority), letter_(static_cast<std::byte>(letter)) {}

  [[nodiscard]] int priority() const noexcept override { return priority_; }

  [[nodiscard]] Status validate(RecordView const& record) const override {
    if (record.value.empty() || record.value.back() != letter_)
      return Error{Errc::refused, "letter"};
    return ok();
  }

  [[nodiscard]] Bytes sign(RecordView const& record) const override {
    Bytes out = to_bytes(record.value);
    out.push_back(letter_);
    return out;
  }

  [[nodiscard]] Bytes strip(RecordView const& record) const override {
    return to_bytes(record.value.first(record.value.size() - 1));
  }

 private:
  int priority_;
  std::byte letter_;
};

}  // namespace

TEST_CASE("signing goes up the priorities, validating and stripping down") {
  Validators validators;
  validators.add(std::make_shared<Letter>(5, 'b'));
  auto const a = validators.add(std::make_shared<Letter>(1, 'a'));
  Id const key;
  Bytes const tag = to_bytes(regular_tag());
  Bytes const signed_value = validators.sign({key, tag, as_bytes("v"), 1});
  CHECK(as_text(signed_value) == "vab");
  CHECK(validators.validate({key, tag, signed_value, 1}));
  CHECK_FALSE(validators.validate({key, tag, as_bytes("vba"), 1}));
  CHECK(as_text(validators.strip({key, tag, signed_value, 1})) == "v");
  validators.remove(a);
  CHECK(as_text(validators.sign({key, tag, as_bytes("v"), 1})) == "vb");
}

TEST_CASE("signatures are verified on every node, and the schema sees the value without them") {
  auto const rsa = std::make_shared<RsaValidator>(
      std::make_shared<crypto::RecordKey const>(crypto::RecordKey::generate()));
  Validators bare;
  Validators full;
  full.add(std::make_shared<Letter>(0, 'x'));
  full.add(rsa);
  Id const key = Id::of_text("k");
  Bytes const subkey = wire::Msgpack(rsa->owner_mark()).encode();
  Bytes const stored = full.sign({key, subkey, as_bytes("v"), 1});
  CHECK(full.validate({key, subkey, stored, 1}));
  CHECK(bare.validate({key, subkey, stored, 1}));
  CHECK_FALSE(bare.validate({key, subkey, as_bytes("vx"), 1}));
  CHECK(as_text(full.strip({key, subkey, stored, 1})) == "v");
}

TEST_CASE("what get returns has no signatures and no expired entries") {
  auto const rsa = std::make_shared<RsaValidator>(
      std::make_shared<crypto::RecordKey const>(crypto::RecordKey::generate()));
  Validators validators;
  validators.add(rsa);
  Id const key = Id::of_text("k");
  Bytes const subkey = wire::Msgpack(rsa->owner_mark()).encode();
  DictionaryValue dictionary;
  (void)dictionary.store(subkey, validators.sign({key, subkey, as_bytes("v"), 50}), 50, 0);
  (void)dictionary.store(Bytes{std::byte{1}}, to_bytes("w"), 10, 0);
  StoredValue const stored{std::move(dictionary), 50};
  auto const found = validators.found(key, stored, 20);
  REQUIRE(found.dictionary);
  REQUIRE(found.dictionary->size() == 1);
  CHECK(found.dictionary->at(subkey) == Timed{to_bytes("v"), 50});
}
