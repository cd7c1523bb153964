// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/blob/blob.hpp"
#include "core/store/store.hpp"

namespace waggle::node {

struct Forgotten {
  std::uint64_t freed = 0;          ///< bytes of saved states
  std::vector<blob::BlobId> blobs;  ///< that no other task names, for the caller to delete
};

/// Takes a task out of the store and deletes its saved states. Blocks on files. Errors: not_found
/// (nothing is known of it), io.
[[nodiscard]] Result<Forgotten> forget_task(store::Store& store,
                                            std::filesystem::path const& data_dir,
                                            PeerId const& operator_id,
                                            std::string const& prefix);

}  // namespace waggle::node
