// SPDX-License-Identifier: MIT
#include "core/node/control/machines.hpp"

#include <future>

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node::control;

namespace {

Machines::Options options_in(test::Folder const& folder) {
  Machines::Options options;
  options.data_dir = folder.path;
  options.version = "0";
  return options;
}

Result<Contact> paired(Machines& machines, std::string address, std::string code) {
  std::promise<Result<Contact>> done;
  machines.pair(std::move(address), std::move(code), "", seconds(5), [&](Result<Contact> c) {
    done.set_value(std::move(c));
  });
  return done.get_future().get();
}

}  // namespace

TEST_SUITE("Machines") {
  TEST_CASE("a folder without machines is an empty list, with a key that only its owner may read") {
    test::Folder const folder;
    {
      auto const machines = Machines::open(options_in(folder));
      REQUIRE(machines);
      CHECK((*machines)->list().empty());
      CHECK((*machines)->find("server").error().code == Errc::not_found);
    }
    auto const mode = std::filesystem::status(folder.path / "watch.key").permissions();
    CHECK((mode & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  }

  TEST_CASE("a broken list is an error that says where, and stays as it is") {
    test::Folder const folder;
    auto const file = folder.path / "machines.toml";
    REQUIRE(write_file(file, as_bytes("[[paired]]\npeer = 1\n"), FileMode::secret));
    auto const machines = Machines::open(options_in(folder));
    REQUIRE_FALSE(machines);
    CHECK(machines.error().detail.find("machines.toml:") != std::string::npos);
    CHECK(as_text(*read_file(file, 1000)) == "[[paired]]\npeer = 1\n");
  }

  TEST_CASE("a machine that is not there is tried, and closing does not wait for it") {
    test::Folder const folder;
    Contacts all;
    Contact contact;
    contact.peer = sim::peer(5);
    contact.name = "server";
    contact.addresses = {*wire::Multiaddr::parse("/ip4/127.0.0.1/tcp/1")};
    REQUIRE(all.put(contact));
    REQUIRE(all.save(folder.path / "machines.toml"));
    auto machines = Machines::open(options_in(folder));
    REQUIRE(machines);
    auto const list = (*machines)->list();
    REQUIRE(list.size() == 1);
    CHECK(list.front().name == "server");
    CHECK(list.front().state == LinkState::connecting);
    // A command says that it was not given.
    std::promise<Status> done;
    (*machines)->give(
        sim::peer(5), {.kind = node::Command::Kind::pause}, seconds(0.5), [&](Status s) {
          done.set_value(std::move(s));
        });
    CHECK_FALSE(done.get_future().get());
    std::promise<Status> forgotten;
    (*machines)->forget(sim::peer(5), [&](Status s) { forgotten.set_value(std::move(s)); });
    CHECK(forgotten.get_future().get());
    CHECK((*machines)->list().empty());
    CHECK(Contacts::load(folder.path / "machines.toml")->empty());
  }

  TEST_CASE("a pairing with nobody there, or of a wrong address or code, says so") {
    test::Folder const folder;
    auto machines = Machines::open(options_in(folder));
    REQUIRE(machines);
    CHECK_FALSE(paired(**machines, "127.0.0.1:1", "k7m2-9xq4"));
    CHECK(paired(**machines, "nowhere", "k7m2-9xq4").error().code == Errc::invalid);
  }
}
