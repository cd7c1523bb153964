// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/crypto/hash.hpp"

/// CPace, a password-authenticated key exchange: two who know the same short code get the same key,
/// and who does not know it gets one guess for each time that one of them takes part, nothing to
/// try codes against at home. Pure; libsodium has the group. Source: draft-irtf-cfrg-cpace,
/// CPACE-RISTR255-SHA512, initiator and responder.
///
///     A: ya random, Ya = ya·G        Ya →
///                                    ← Yb        B: yb random, Yb = yb·G
///     both: key = H(session, ya·yb·G, Ya, Yb),   G = map(H(code, channel, session))
namespace waggle::crypto {

using CpaceScalar = std::array<std::byte, 32>;
using CpacePoint = std::array<std::byte, 32>;

/// A secret scalar of 64 fresh random bytes, uniform below the group's order.
[[nodiscard]] CpaceScalar cpace_scalar(std::span<std::byte const, 64> entropy);

/// The generator G. `channel` names who talks to whom by what; `session` is fresh for each run.
[[nodiscard]] CpacePoint cpace_generator(ByteView code, ByteView channel, ByteView session);

/// secret·point; nothing if `point` is no element of the group or the result is the neutral one:
/// the run must end. Cost: about 50 µs.
[[nodiscard]] std::optional<CpacePoint> cpace_multiply(CpaceScalar const& secret,
                                                       CpacePoint const& point);

/// The key of both. `shared` is each one's secret times the other's point; `a` the initiator's
/// point and what it said with it, `b` the responder's.
[[nodiscard]] Sha512 cpace_key(ByteView session,
                               CpacePoint const& shared,
                               CpacePoint const& a,
                               ByteView said_by_a,
                               CpacePoint const& b,
                               ByteView said_by_b);

/// Whether two secrets of one length are equal, in a time that does not tell where they differ.
[[nodiscard]] bool same_secret(ByteView a, ByteView b) noexcept;

}  // namespace waggle::crypto
