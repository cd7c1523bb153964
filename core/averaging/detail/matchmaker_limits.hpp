// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/runtime.hpp"

namespace waggle::averaging::limits {

using std::chrono::milliseconds;

constexpr Duration kFirstPoll =
    milliseconds(20);  ///< of the DHT; doubles. Smaller: more calls at each start
constexpr Duration kSlowestPoll = std::chrono::seconds(1);
constexpr Duration kGetTime = std::chrono::seconds(5);
constexpr Duration kStoreTime = std::chrono::seconds(5);
constexpr Duration kUndeclareTime = std::chrono::seconds(3);
constexpr Duration kExpectedEvery =
    milliseconds(50);  ///< a leader with followers asks again whom it expects
constexpr Duration kLinger =
    milliseconds(200);  ///< for who is about to ask; larger slows every round of newcomers
constexpr Duration kDisconnectedGrace = std::chrono::seconds(1);
constexpr Duration kHedgeTick = milliseconds(50);
constexpr Duration kHedgeUnconnected =
    milliseconds(100);  ///< silent that long: ask the next one, too
constexpr Duration kHedgeConnected = milliseconds(500);
constexpr std::size_t kMaxAsks = 16;  ///< at once
constexpr Duration kFirstSilence =
    std::chrono::seconds(30);  ///< who did not answer is not asked for this long; doubles
constexpr Duration kLongestSilence = std::chrono::minutes(10);
constexpr std::size_t kMaxSilences = 4096;
constexpr std::size_t kMaxOtherModels = 64;  ///< peers of another model that are named in the log
constexpr std::size_t kMaxWaitingFollowers = 1024;     ///< calls of rpc_join_group being served
constexpr double kShortestDeclaration = 0.05;          ///< seconds
constexpr Duration kLongest = std::chrono::hours(24);  ///< what "no deadline" means in DHT time

}  // namespace waggle::averaging::limits
