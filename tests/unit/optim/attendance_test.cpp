// SPDX-License-Identifier: MIT
#include "core/optim/attendance.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::optim;

namespace {

PeerId peer(char c) {
  return *PeerId::from_bytes(as_bytes(std::string_view(&c, 1)));
}

}  // namespace

TEST_CASE("Attendance: who missed a round is not waited for in the next") {
  Attendance attendance;
  double now = 0;
  std::vector<PeerId> const both{peer('a'), peer('b')};
  std::vector<PeerId> const one{peer('a')};
  CHECK(attendance.expected(peer('b')));
  attendance.round(both, one, ++now);
  CHECK(attendance.expected(peer('a')));
  CHECK(!attendance.expected(peer('b')));
  attendance.round(one, one, ++now);
  CHECK(!attendance.expected(peer('b')));  // it may be dead
  attendance.news(peer('b'), 0.5);         // from before it missed the round
  CHECK(!attendance.expected(peer('b')));
  attendance.news(peer('b'), ++now);
  CHECK(attendance.expected(peer('b')));  // a second chance
  attendance.round(both, one, ++now);
  attendance.news(peer('b'), ++now);
  for (int round = 0; round < 3; ++round) {
    CHECK(!attendance.expected(peer('b')));
    attendance.round(one, one, ++now);
  }
  CHECK(attendance.expected(peer('b')));
}

TEST_CASE("Attendance: who fell silent in the midst of a round missed it") {
  Attendance attendance;
  std::vector<PeerId> const both{peer('a'), peer('b')};
  attendance.round(both, both, 1);
  attendance.missed(peer('b'), 2);
  CHECK(!attendance.expected(peer('b')));
  CHECK(attendance.expected(peer('a')));
  attendance.round(both, both, 3);
  CHECK(attendance.expected(peer('b')));
}

TEST_CASE("Attendance: who keeps missing costs ever fewer rounds, who comes is expected at once") {
  Attendance attendance;
  double now = 0;
  std::vector<PeerId> const nobody;
  int waited = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<PeerId> who;
    if (attendance.expected(peer('b'))) {
      who.push_back(peer('b'));
      ++waited;
    }
    attendance.round(who, nobody, ++now);
    attendance.news(peer('b'), ++now);
  }
  CHECK(waited <= 9);
  std::vector<PeerId> const came{peer('b')};
  attendance.round(nobody, came, ++now);
  CHECK(attendance.expected(peer('b')));
}
