// SPDX-License-Identifier: MIT
#include "core/node/tasks/files.hpp"

namespace waggle::node {

Co<Result<std::map<std::string, std::filesystem::path>>> fetch_files(
    Services& services,
    task::TaskRecord record,
    std::function<void(blob::FetchProgress const&)> progress,
    TimePoint deadline) {
  blob::FetchProgress whole;
  for (auto const& ref : record.blobs) whole.total += ref.size;
  // Whoever is connected and brought us the record probably holds its blobs; the DHT names the
  // others.
  std::vector<PeerId> hints;
  for (auto const& peer : services.swarm().peers()) hints.push_back(peer.id);
  std::map<std::string, std::filesystem::path> files;
  for (auto const& ref : record.blobs) {
    auto const before = whole.done;
    std::function<void(blob::FetchProgress const&)> report =
        [&whole, before, &progress](blob::FetchProgress const& one) {
          whole.done = before + one.done;
          whole.providers = one.providers;
          progress(whole);
        };
    WAGGLE_CO_TRY(auto path,
                  co_await services.blobs().fetch(ref.id, hints, std::move(report), deadline));
    files.emplace(ref.name, std::move(path));
    whole.done = before + ref.size;
  }
  co_return files;
}

void serve_files_of(Services& services, task::TaskRecord const& record) {
  std::set<blob::BlobId> ids;
  for (auto const& ref : record.blobs) ids.insert(ref.id);
  services.serve_blobs(std::move(ids));
}

}  // namespace waggle::node
