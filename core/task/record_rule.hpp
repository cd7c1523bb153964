// SPDX-License-Identifier: MIT
#pragma once

#include "core/dht/record_rule.hpp"

namespace waggle::task {

/// Tells the DHT which values are genuine task records, so that Waggle nodes keep the highest
/// version whatever a stranger stores above it: a msgpack bin of an envelope that verifies, under
/// the key of its own operator and prefix (place (a) of DESIGN.md section 13). Cost: one signature
/// check for a value that looks like an envelope of ours, a few compares for any other. Pure;
/// thread: the network thread.
class TaskRecordRule final : public dht::RecordRule {
 public:
  [[nodiscard]] std::optional<std::uint64_t> version(dht::Id const& key,
                                                     ByteView value) const override;
};

}  // namespace waggle::task
