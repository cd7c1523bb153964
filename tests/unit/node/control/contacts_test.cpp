// SPDX-License-Identifier: MIT
#include "core/node/control/contacts.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node::control;

namespace {

Contact contact(std::uint64_t n, std::string name, Right right = Right::watch) {
  Contact c;
  c.peer = sim::peer(n);
  c.name = std::move(name);
  c.right = right;
  c.since = 1.8e9 + 0.25;
  return c;
}

}  // namespace

TEST_SUITE("Contacts") {
  TEST_CASE("what is saved is loaded, in a file that only its owner may read") {
    test::Folder const folder;
    auto const file = folder.path / "paired.toml";
    Contacts all;
    auto server = contact(1, R"(the "big" one \ 机器)", Right::control);
    server.addresses = {*wire::Multiaddr::parse("/ip4/192.168.1.20/tcp/31337"),
                        *wire::Multiaddr::parse("/ip6/::1/tcp/4001")};
    REQUIRE(all.put(server));
    REQUIRE(all.put(contact(2, "laptop")));
    REQUIRE(all.save(file));

    struct stat info {};

    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    auto const again = Contacts::load(file);
    REQUIRE_MESSAGE(again, again.error().detail);
    CHECK(again->all() == all.all());
    CHECK(again->all().front().name == R"(the "big" one \ 机器)");
  }

  TEST_CASE("no file is nobody; a bad one says where") {
    test::Folder const folder;
    auto const none = Contacts::load(folder.path / "paired.toml");
    REQUIRE(none);
    CHECK(none->empty());
    auto const peer = crypto::to_text(sim::peer(1));
    for (auto const& bad : {
             std::string("[[paired]]\npeer = 5\n"),
             std::string("paired = 5\n"),
             std::string("[[[["),
             std::string("peers = []\n"),
             std::string("[[paired]]\npeer = \"12D3\"\nname = \"a\"\nright = \"watch\"\n"),
             cat("[[paired]]\npeer = \"", peer, "\"\nname = \"a\"\nright = \"root\"\n"),
             cat("[[paired]]\npeer = \"", peer, "\"\nright = \"watch\"\n"),
             cat("[[paired]]\npeer = \"",
                 peer,
                 "\"\nname = \"a\"\nright = \"watch\"\naddress = [\"nowhere\"]\n"),
         }) {
      CAPTURE(bad);
      auto const read = Contacts::parse(bad, "paired.toml");
      REQUIRE_FALSE(read);
      CHECK(read.error().code == Errc::malformed);
      CHECK(read.error().detail.starts_with("paired.toml:"));
    }
  }

  TEST_CASE("a second pairing replaces the first; no more than a person's machines are kept") {
    Contacts all;
    REQUIRE(all.put(contact(1, "a")));
    REQUIRE(all.put(contact(1, "b", Right::control)));
    REQUIRE(all.all().size() == 1);
    CHECK(all.find(sim::peer(1))->right == Right::control);
    for (std::uint64_t n = 2; n <= Contacts::kMax; ++n) REQUIRE(all.put(contact(n, cat(n))));
    auto const more = all.put(contact(1000, "more"));
    REQUIRE_FALSE(more);
    CHECK(more.error().code == Errc::refused);
    CHECK(all.put(contact(7, "again")));
    CHECK(all.remove(sim::peer(7)));
    CHECK_FALSE(all.remove(sim::peer(7)));
    CHECK(all.put(contact(1000, "more")));
  }

  TEST_CASE("a machine is found by name, PeerID or its end, never by a guess") {
    Contacts all;
    REQUIRE(all.put(contact(1, "server")));
    REQUIRE(all.put(contact(2, "twin")));
    REQUIRE(all.put(contact(3, "twin")));
    auto const id = crypto::to_text(sim::peer(2));
    CHECK(all.find("server")->peer == sim::peer(1));
    CHECK(all.find(id)->peer == sim::peer(2));
    CHECK(all.find("twin").error().code == Errc::invalid);
    CHECK(all.find("nobody").error().code == Errc::not_found);
    CHECK(all.find("").error().code == Errc::not_found);
    // Fewer than six letters are no name.
    CHECK_FALSE(all.find(id.substr(id.size() - 3)));
    CHECK(all.free_name("server", sim::peer(9)) == "server 2");
    CHECK(all.free_name("server", sim::peer(1)) == "server");
    // What gives way to the number is whole letters.
    std::string wide;
    for (int i = 0; i < 21; ++i) wide += "机";
    REQUIRE(all.put(contact(4, wide.c_str())));
    CHECK(all.free_name(wide, sim::peer(9)) == wide.substr(0, 60) + " 2");
  }

  TEST_CASE("names come out clean, whatever a stranger calls itself") {
    CHECK(clean_name("  lap\ntop\x1b[2J ") == "laptop[2J");
    CHECK(clean_name("a\xC2\x9B"
                     "2Jb\xC2\xA0") == "a2Jb\xC2\xA0");
    CHECK(clean_name("") == "machine");
    CHECK(clean_name("\xff\xfe") == "machine");
    // Without the control character in its middle it would be one that steers terminals.
    CHECK(clean_name("\xC2\x05\x80-") == "machine");
    CHECK(clean_name(std::string(500, 'a')).size() == Contacts::kMaxName);
    // Not inside a letter.
    std::string wide;
    for (int i = 0; i < 40; ++i) wide += "机";
    CHECK(clean_name(wide).size() == 63);
    CHECK(clean_name(clean_name(wide)) == clean_name(wide));
  }
}
