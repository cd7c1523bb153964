// SPDX-License-Identifier: MIT
#include "core/averaging/gather.hpp"

#include <cmath>

#include "core/base/text.hpp"

namespace waggle::averaging {

Bytes Gather::encode() const {
  wire::Msgpack::Array items;
  items.push_back(bandwidth ? wire::Msgpack(*bandwidth) : wire::Msgpack());
  items.emplace_back(static_cast<std::int64_t>(mode));
  items.emplace_back(user.encode());
  return wire::Msgpack(std::move(items)).encode();
}

Result<Gather> Gather::parse(ByteView bytes) {
  if (bytes.size() > kMaxGatherBytes)
    return Error{Errc::too_large,
                 cat("gather of ", bytes.size(), " bytes, at most ", kMaxGatherBytes)};
  WAGGLE_TRY(auto const value, wire::Msgpack::decode(bytes));
  WAGGLE_TRY(auto const items, value.items());
  if (items.size() != 3)
    return Error{Errc::malformed, cat("gather has ", items.size(), " items, not 3")};
  Gather gather;
  if (!items[0].is_nil()) {
    gather.bandwidth = items[0].number();
    if (!gather.bandwidth || !std::isfinite(*gather.bandwidth) || *gather.bandwidth < 0)
      return Error{Errc::malformed, "gather: the bandwidth is no number >= 0"};
  }
  auto const mode = items[1].integer();
  if (!mode || *mode < 0 || *mode > 2) return Error{Errc::malformed, "gather: unknown mode"};
  gather.mode = static_cast<PeerMode>(*mode);
  auto const* const user = items[2].get<Bytes>();
  if (user == nullptr) return Error{Errc::malformed, "gather: the user's part is no bin"};
  WAGGLE_TRY(gather.user, wire::Msgpack::decode(*user));
  return gather;
}

}  // namespace waggle::averaging
