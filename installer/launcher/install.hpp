// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"

#include "installer/launcher/trailer.hpp"

namespace waggle::launcher {

/// The program, unpacked.
struct Installed {
  std::string path;
  Fd use;  ///< kept open over exec: while it is, no newer version deletes this one
  bool fresh = false;
};

/// The programs of the tree whose loader is the tree's own, and that loader.
inline constexpr char const* kOwnLoader = "own/ld-linux-x86-64.so.2";
inline constexpr char const* kOnOwnLoader[] = {"alone/waggle", "trainer/waggle-trainer"};

/// Finds the version of `trailer` in `folder` (a private one, whose real path is `path`) or unpacks
/// it there, once however many start at a time:
///
///     present? lock it as used, done
///     lock the folder -> present now? done -> unpack beside, check, sync, rename -> done
///     then delete every other version that nobody uses
///
/// `file`: the single file. `say`: what a person waits for. Errors: bad_signature, malformed (the
/// file is damaged), refused, io, timeout (another copy holds the lock for minutes).
[[nodiscard]] Result<Installed> install(int folder,
                                        std::string const& path,
                                        int file,
                                        Trailer const& trailer,
                                        std::function<void(std::string const&)> const& say);

/// The name of a version's folder: the first half of its payload's hash.
[[nodiscard]] std::string folder_name(Trailer const& trailer);

/// Deletes what unpacking left half done and each version but `keep` that nobody uses. Only what
/// install() made is touched. The folder's lock is held by the caller.
void remove_others(int folder, std::string const& keep);

}  // namespace waggle::launcher
