// SPDX-License-Identifier: MIT
#include "core/worker/packet.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "core/worker/messages.hpp"

namespace waggle::worker {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    a = Fd(ends[0]);
    b = Fd(ends[1]);
  }

  Fd a, b;
};

TEST_CASE("packets, carry bytes and descriptors whole") {
  Pair pair;
  auto memory = make_memory("test", 64);
  REQUIRE(memory);
  int const descriptors[] = {memory->get(), memory->get()};
  REQUIRE(send_packet(pair.a.get(), as_bytes("hello"), descriptors));
  auto packet = receive_packet(pair.b.get());
  REQUIRE(packet);
  CHECK(to_string(packet->bytes) == "hello");
  REQUIRE(packet->descriptors.size() == 2);
  auto theirs = Mapping::map(packet->descriptors[0].get(), 16);
  auto ours = Mapping::map(memory->get(), 16);
  REQUIRE(theirs);
  REQUIRE(ours);
  theirs->values()[15] = 4.5f;
  CHECK(ours->values()[15] == 4.5f);
}

TEST_CASE("packets, the largest message fits a socket as the kernel makes it") {
  Pair pair;
  Bytes const big(kMaxMessage);
  REQUIRE(send_packet(pair.a.get(), big, {}));
  auto packet = receive_packet(pair.b.get());
  REQUIRE(packet);
  CHECK(packet->bytes.size() == kMaxMessage);
  ::fcntl(pair.b.get(), F_SETFL, O_NONBLOCK);
  auto none = receive_packet(pair.b.get());
  REQUIRE(!none);
  CHECK(none.error().code == Errc::timeout);
  pair.a.reset();
  auto end = receive_packet(pair.b.get());
  REQUIRE(!end);
  CHECK(end.error().code == Errc::closed);
}

TEST_CASE("memory, neither grows nor shrinks once shared, and short files are not mapped") {
  auto memory = make_memory("test", 4096);
  REQUIRE(memory);
  CHECK(::ftruncate(memory->get(), 0) != 0);
  CHECK(::ftruncate(memory->get(), 8192) != 0);
  CHECK(!Mapping::map(memory->get(), 1025));
  Fd const open_ended(::memfd_create("test", 0));
  CHECK(::ftruncate(open_ended.get(), 4096) == 0);
  CHECK(!Mapping::map(open_ended.get(), 16));
}

}  // namespace
}  // namespace waggle::worker
