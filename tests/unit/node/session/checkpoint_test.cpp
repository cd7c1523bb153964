// SPDX-License-Identifier: MIT
#include "core/node/session/checkpoint.hpp"

#include <doctest/doctest.h>

#include "tests/support/run.hpp"
#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

averaging::StateSnapshot sample() {
  averaging::StateSnapshot state;
  state.epoch = 41;
  state.schema = {{{2, 3}, false}, {{}, true}};
  state.values = {1, 2, 3, 4, 5, 6, -7.5F};
  wire::Msgpack::Map leaf;
  leaf.emplace_back("type", "value");
  leaf.emplace_back("value", 0.1);
  wire::Msgpack::Array leaves;
  leaves.emplace_back(std::move(leaf));
  state.optimizer_metadata = std::move(leaves);
  state.test_loss = 0.75;
  state.has_test_loss = true;
  return state;
}

task::TaskRecord record() {
  task::TaskRecord r;
  r.prefix = "fashion";
  r.operator_id = *PeerId::from_bytes(to_bytes("\x12\x20 an operator of thirty-four bytes"));
  return r;
}

}  // namespace

TEST_SUITE("Checkpoint") {
  TEST_CASE("comes back equal") {
    auto const state = sample();
    auto const back = decode_checkpoint(encode_checkpoint(state));
    REQUIRE(back);
    CHECK(back->epoch == state.epoch);
    CHECK(back->schema == state.schema);
    CHECK(back->values == state.values);
    CHECK(back->optimizer_metadata == state.optimizer_metadata);
    CHECK(back->test_loss == state.test_loss);
  }

  TEST_CASE("a cut or altered file is refused, never half read") {
    auto const file = encode_checkpoint(sample());
    for (std::size_t n = 0; n < file.size(); ++n)
      CHECK(!decode_checkpoint(ByteView(file).first(n)));
    auto longer = file;
    longer.push_back(std::byte{1});
    CHECK(!decode_checkpoint(longer));
    auto future = file;
    future[4] = std::byte{9};
    CHECK(decode_checkpoint(future).error().detail.find('9') != std::string::npos);
  }

  TEST_CASE("the newest saved state is taken up, an older one when it is damaged") {
    test::Folder const folder;
    SystemRuntime runtime;
    Options options;
    options.data_dir = folder.path / "data";
    auto services = Services::open(runtime, options);
    REQUIRE(services);
    auto body = [](Services& s) -> Co<void> {
      auto const none = co_await load_checkpoint(s, record().operator_id, "fashion");
      REQUIRE(none);
      CHECK(!*none);
      for (std::int64_t const epoch : {41, 42}) {
        auto state = std::make_shared<averaging::StateSnapshot>(sample());
        state->epoch = epoch;
        auto const r = record();
        auto const saved = co_await save_checkpoint(s, r, std::move(state));
        REQUIRE(saved);
      }
      auto const newest = co_await load_checkpoint(s, record().operator_id, "fashion");
      REQUIRE(newest);
      REQUIRE(*newest);
      CHECK((*newest)->epoch == 42);
    };
    test::run(runtime, body(**services));
  }

  TEST_CASE("a second process on the data directory is refused with the first one's pid") {
    test::Folder const folder;
    SystemRuntime runtime;
    Options options;
    options.data_dir = folder.path / "data";
    auto const first = Services::open(runtime, options);
    REQUIRE(first);
    auto const second = Services::open(runtime, options);
    REQUIRE(!second);
    CHECK(second.error().code == Errc::refused);
    CHECK(second.error().detail.find(std::to_string(::getpid())) != std::string::npos);
  }
}
