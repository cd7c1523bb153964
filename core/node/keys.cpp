// SPDX-License-Identifier: MIT
#include "core/node/keys.hpp"

#include <algorithm>
#include <cctype>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxKeyBytes = 16u << 10;

Result<fs::path> path_of(fs::path const& data_dir, std::string const& name) {
  if (name == "identity") return data_dir / "identity.key";
  bool const plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
  if (!plain)
    return Error{Errc::invalid,
                 cat("key name \"",
                     name,
                     "\": \"identity\", or an operator's name of letters, digits, - and _")};
  return data_dir / "operator" / (name + ".key");
}

Result<KeyInfo> describe(std::string name, ByteView serialized, fs::path const& file) {
  auto const key = crypto::Identity::from_protobuf(serialized);
  if (!key) return Error{key.error().code, cat(file.string(), ": ", key.error().detail)};
  return KeyInfo{std::move(name), crypto::to_text(key->peer_id())};
}

}  // namespace

Result<std::vector<KeyInfo>> list_keys(fs::path const& data_dir) {
  std::vector<std::string> names;
  std::error_code ec;
  if (fs::exists(data_dir / "identity.key", ec)) names.emplace_back("identity");
  for (auto const& entry : fs::directory_iterator(data_dir / "operator", ec))
    if (entry.path().extension() == ".key") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  std::vector<KeyInfo> keys;
  for (auto& name : names) {
    WAGGLE_TRY(auto const path, path_of(data_dir, name));
    WAGGLE_TRY(auto const content, read_file(path, kMaxKeyBytes));
    WAGGLE_TRY(auto info, describe(std::move(name), content, path));
    keys.push_back(std::move(info));
  }
  return keys;
}

Result<KeyInfo> export_key(fs::path const& data_dir, std::string const& name, fs::path const& to) {
  WAGGLE_TRY(auto const path, path_of(data_dir, name));
  WAGGLE_TRY(auto const content, read_file(path, kMaxKeyBytes));
  WAGGLE_TRY(auto info, describe(name, content, path));
  std::error_code ec;
  if (fs::exists(to, ec))
    return Error{Errc::refused, cat(to.string(), " exists; a key never overwrites a file")};
  WAGGLE_TRY_STATUS(write_file(to, content, FileMode::secret));
  return info;
}

Result<KeyInfo> import_key(fs::path const& data_dir,
                           std::string const& name,
                           fs::path const& from) {
  WAGGLE_TRY(auto const path, path_of(data_dir, name));
  WAGGLE_TRY(auto const content, read_file(from, kMaxKeyBytes));
  WAGGLE_TRY(auto info, describe(name, content, from));
  std::error_code ec;
  if (fs::exists(path, ec))
    return Error{Errc::refused,
                 cat(path.string(), " exists; move it away first if you mean to replace it")};
  fs::create_directories(path.parent_path(), ec);
  WAGGLE_TRY_STATUS(write_file(path, content, FileMode::secret));
  return info;
}

}  // namespace waggle::node
