// SPDX-License-Identifier: MIT
#include "core/node/node.hpp"

#include <algorithm>
#include <thread>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/unit/node/release/started.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

using Kind = Command::Kind;

/// A waggle.toml whose reader hangs until this is gone, as a disk that was unplugged has it.
class HangingFile {
 public:
  explicit HangingFile(std::filesystem::path folder) : folder_(std::move(folder)) {
    REQUIRE(::mkfifo(pipe().c_str(), 0600) == 0);
    std::filesystem::create_hard_link(pipe(), file());
  }

  ~HangingFile() { let_go(); }

  // Who opens it from now on finds none.
  void unlink() {
    std::error_code ignored;
    std::filesystem::remove(file(), ignored);
  }

  void let_go() {
    unlink();
    Fd const writer(::open(pipe().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }

 private:
  [[nodiscard]] std::filesystem::path pipe() const { return folder_ / "pipe"; }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "waggle.toml"; }

  std::filesystem::path folder_;
};

template <class F>
bool within_20_seconds(F const& holds) {
  for (int i = 0; i < 200; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

// Somebody who watches, so that the file is looked at each three seconds.
Taken watch_and_browse(Node& node) {
  (void)node.snapshot();
  auto const taken = node.send({.kind = Kind::browse});
  REQUIRE(taken);
  return *taken;
}

}  // namespace

TEST_SUITE("Node") {
  TEST_CASE("a command's answer says whether it is carried out, and whether it is on disk") {
    test::TempFolder const folder;
    auto started = Node::start(test::alone(folder.path()), ServeJob{}, nullptr);
    REQUIRE(started);
    auto& node = **started;
    auto const all_holds = [&node] {
      auto const taken = watch_and_browse(node);
      return taken.carried_out && taken.kept;
    };
    CHECK(within_20_seconds(all_holds));
    {
      HangingFile file(folder.path());
      Taken taken{true, true};
      CHECK(within_20_seconds([&] {
        taken = watch_and_browse(node);
        return taken.carried_out && !taken.kept;
      }));
      // What is on disk, but cannot be followed yet: once the reader hangs.
      file.unlink();
      CHECK(within_20_seconds([&] {
        auto const set = node.send({.kind = Kind::set, .name = "cpu_share", .value = "50"});
        return set && !set->carried_out && set->kept;
      }));
    }
    CHECK(within_20_seconds(all_holds));
  }

  TEST_CASE("a node that has ended carries out nothing, and keeps nothing") {
    test::TempFolder const folder;
    auto started = Node::start(test::alone(folder.path()), ServeJob{}, nullptr);
    REQUIRE(started);
    (*started)->leave();
    (void)(*started)->wait();
    // Its last turns still say that it is leaving; after them nobody answers.
    auto const taken = (*started)->send({.kind = Kind::pause});
    CHECK((!taken || (!taken->carried_out && !taken->kept)));
  }

  TEST_CASE("what nothing trains cannot be paused") {
    test::TempFolder const folder;
    auto started = Node::start(test::alone(folder.path()), ServeJob{}, nullptr);
    REQUIRE(started);
    auto const nothing = (*started)->send({.kind = Kind::pause});
    REQUIRE(!nothing);
    CHECK(nothing.error().code == Errc::not_found);
    auto const named = (*started)->send({.kind = Kind::finish, .prefix = "stripes"});
    REQUIRE(!named);
    CHECK(named.error().detail.find("stripes") != std::string::npos);
  }

  TEST_CASE("who is looked for can be paused already, which is not kept yet") {
    test::TempFolder const folder;
    auto started = Node::start(test::alone(folder.path()), TrainJob{"waggle:stripes"}, nullptr);
    REQUIRE(started);
    auto const taken = (*started)->send({.kind = Kind::pause});
    REQUIRE(taken);
    CHECK(taken->carried_out);
    CHECK(!taken->kept);
  }

  TEST_CASE("a command that comes before the network is open is carried out once it is") {
    test::TempFolder const folder;
    // Keys that are not new: it looks for a copy of itself first, at a peer that never answers.
    REQUIRE(crypto::Identity::load_or_create(folder / "identity.key"));
    Fd const silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(silent.get(), 16) == 0);
    REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    auto options = test::alone(folder.path());
    options.peers = {wire::Multiaddr::tcp("127.0.0.1", ntohs(address.sin_port))
                         ->with_peer_id(crypto::Identity::generate().peer_id())};
    auto started = Node::start(options, ServeJob{}, nullptr);
    REQUIRE(started);
    REQUIRE((*started)->send({.kind = Kind::look, .link = "waggle:stripes"}));
    CHECK(within_20_seconds([&] {
      auto const snapshot = (*started)->snapshot();
      return snapshot && std::ranges::any_of(snapshot->known_tasks, [](auto const& known) {
               return known.prefix == "stripes";
             });
    }));
  }
}
