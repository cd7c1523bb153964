// SPDX-License-Identifier: MIT
#include "core/node/tasks/forget.hpp"

#include <set>

#include "core/base/text.hpp"
#include "core/node/session/kept_failures.hpp"
#include "core/node/session/wish.hpp"
#include "core/store/checkpoint_files.hpp"
#include "core/task/record.hpp"

namespace waggle::node {
namespace {

// The blobs of a stored task; none where its record does not verify.
std::set<blob::BlobId> blobs_of(store::KnownTask const& known) {
  std::set<blob::BlobId> ids;
  auto const operator_id = PeerId::from_bytes(known.operator_id);
  if (!operator_id) return ids;
  auto const record = task::TaskRecord::open(known.envelope, *operator_id, known.prefix);
  if (!record) return ids;
  for (auto const& ref : record->blobs) ids.insert(ref.id);
  return ids;
}

}  // namespace

Result<Forgotten> forget_task(store::Store& store,
                              std::filesystem::path const& data_dir,
                              PeerId const& operator_id,
                              std::string const& prefix) {
  WAGGLE_TRY(auto const known, store.task(operator_id.bytes(), prefix));
  if (!known) return Error{Errc::not_found, cat("this data directory knows no task ", prefix)};
  Forgotten forgotten;
  store::CheckpointFiles checkpoints(
      store, data_dir / "checkpoints", [](ByteView) { return std::string(); });
  WAGGLE_TRY(forgotten.freed, checkpoints.remove(known->operator_id, prefix));
  WAGGLE_TRY_STATUS(forget_failures(store, operator_id, prefix));
  WAGGLE_TRY_STATUS(forget_wish(store, operator_id, prefix));
  WAGGLE_TRY_STATUS(store.remove_task(known->operator_id, prefix));
  std::set<blob::BlobId> needed;
  WAGGLE_TRY(auto const others, store.tasks());
  for (auto const& other : others) needed.merge(blobs_of(other));
  for (auto const& id : blobs_of(*known))
    if (!needed.contains(id)) forgotten.blobs.push_back(id);
  return forgotten;
}

}  // namespace waggle::node
