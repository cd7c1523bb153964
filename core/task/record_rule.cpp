// SPDX-License-Identifier: MIT
#include "core/task/record_rule.hpp"

#include <algorithm>

#include "core/task/detail/place.hpp"

namespace waggle::task {
namespace {

constexpr std::string_view kPayloadType = "waggle/task/1";

}  // namespace

std::optional<std::uint64_t> TaskRecordRule::version(dht::Id const& key, ByteView value) const {
  auto const text = as_text(value);
  // Cheap first: a stranger's values come by the thousand, and a signature costs a tenth of a
  // millisecond.
  if (text.find(kPayloadType) == std::string_view::npos) return std::nullopt;
  auto const envelope = detail::unwrap(value);
  if (!envelope) return std::nullopt;
  auto const record = TaskRecord::open_any(*envelope);
  if (!record) return std::nullopt;
  if (dht::Id::of_text(TaskRecord::key_text(record->operator_id, record->prefix)) != key)
    return std::nullopt;
  return record->version;
}

}  // namespace waggle::task
