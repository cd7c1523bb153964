// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/node/options.hpp"
#include "core/node/report/tar.hpp"

namespace waggle::node {

/// What helps to find a bug, for its reporter to look at and then send: versions, the machine,
/// doctor's findings, waggle.toml, the running node's snapshot, metrics and the last lines of the
/// log; all of it redacted. Keys, tokens, data and models are never read. Asks a running node over
/// its socket; needs none.
[[nodiscard]] std::vector<ArchiveFile> collect_report(Options const& options);

/// Writes them as .tar.gz, mode 0600. Errors: refused (the file is there already), invalid (another
/// ending), io.
[[nodiscard]] Status write_report(std::vector<ArchiveFile> const& files,
                                  std::filesystem::path const& to,
                                  std::uint64_t time);

}  // namespace waggle::node
