// SPDX-License-Identifier: MIT
#include "core/node/tasks/publisher.hpp"

#include <algorithm>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/api/examples_json.hpp"
#include "core/node/events.hpp"
#include "core/node/session/trainer.hpp"
#include "core/node/tasks/files.hpp"
#include "core/task/link.hpp"

namespace waggle::node {
namespace {

constexpr std::uint64_t kMaxTomlBytes = 64u << 10;
constexpr Duration kTrainerStart = std::chrono::minutes(5);
constexpr Duration kLookBeforePublish = std::chrono::seconds(5);

namespace fs = std::filesystem;

Result<crypto::Identity> operator_key(Services& services, std::string const& name) {
  bool const plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
  if (!plain)
    return Error{Errc::invalid, cat("operator name \"", name, "\": letters, digits, - and _ only")};
  auto const folder = services.options().data_dir / "operator";
  std::error_code ec;
  fs::create_directories(folder, ec);
  return crypto::Identity::load_or_create(folder / (name + ".key"));
}

// Someone else's run under this prefix would mix with ours: the averagers' names are built from it.
Co<Status> check_free(Services& services, std::string prefix, PeerId own_operator) {
  auto const deadline = services.runtime().now() + kLookBeforePublish;
  auto const progress = co_await services.dht().get(
      dht::Id::of_text(prefix + "_progress"), dht::Freshness::latest, deadline);
  if (!progress) {
    if (progress.error().code == Errc::cancelled) co_return progress.error();
    co_return ok();
  }
  bool const live = progress->dictionary && !progress->dictionary->empty();
  if (!live) co_return ok();
  auto const operators = co_await services.directory().operators(prefix, deadline);
  if (operators &&
      std::find(operators->begin(), operators->end(), own_operator) != operators->end())
    co_return ok();
  co_return Error{Errc::refused,
                  cat("someone else's run is live under the prefix ",
                      prefix,
                      "; choose another, or publish with --force")};
}

Result<std::map<std::string, fs::path>> locate_files(task::Definition const& definition,
                                                     fs::path const& folder) {
  std::map<std::string, fs::path> files;
  std::error_code ec;
  for (auto const* list : {&definition.data.train, &definition.data.test})
    for (auto const& name : *list) {
      auto const path = files.insert_or_assign(name, folder / name).first->second;
      if (!fs::is_regular_file(path, ec))
        return Error{Errc::not_found,
                     cat("the task's data file ",
                         path.string(),
                         " is missing; data files lie beside the task file, or in --files DIR")};
    }
  return files;
}

Co<Result<task::BlobRef>> add_blob(Services& services, std::string name, fs::path path) {
  std::error_code ec;
  auto const size = fs::file_size(path, ec);
  WAGGLE_CO_TRY(auto const id, co_await services.blobs().add_file(path));
  co_return task::BlobRef{std::move(name), id, size};
}

// The held-out samples that the task asks for; fewer where the model shows fewer.
Co<Result<task::BlobRef>> add_preview(Services& services,
                                      Trainer& trainer,
                                      task::Definition definition,
                                      TimePoint deadline) {
  Preview preview;
  preview.prefix = definition.prefix;
  preview.labels = definition.data.labels;
  WAGGLE_CO_TRY(preview.items, co_await trainer.examples(deadline));
  auto const most = static_cast<std::size_t>(definition.data.preview);
  if (preview.items.size() > most) preview.items.resize(most);
  for (auto& item : preview.items) {
    item.guesses.clear();
    item.text = std::exchange(item.prompt, {}).substr(0, Preview::kMostText);
  }
  auto const json = to_json(preview);
  if (json.size() > kMaxPreviewBytes)
    co_return Error{Errc::too_large,
                    cat("the preview of ",
                        preview.items.size(),
                        " samples takes ",
                        json.size(),
                        " bytes, at most ",
                        kMaxPreviewBytes,
                        "; make data.preview smaller")};
  auto content = to_bytes(as_bytes(json));
  auto const size = content.size();
  WAGGLE_CO_TRY(auto const id, co_await services.blobs().add_bytes(std::move(content)));
  co_return task::BlobRef{std::string(kPreviewBlob), id, size};
}

// What only a model can make: initial weights, and the preview where the task has one.
Co<Result<std::vector<task::BlobRef>>> model_blobs(Services& services,
                                                   task::Definition definition,
                                                   std::map<std::string, fs::path> files) {
  TrainerOptions options;
  options.files = std::move(files);
  options.threads = services.options().threads;
  options.seed = services.runtime().random_u64();
  auto const deadline = services.runtime().now() + kTrainerStart;
  WAGGLE_CO_TRY(auto const trainer,
                co_await Trainer::start(services, definition, std::move(options), deadline));
  auto const path = services.options().data_dir / "initial-weights.safetensors";
  auto written = co_await trainer->write_weights(path, deadline);
  std::vector<task::BlobRef> blobs;
  std::optional<Error> failed;
  if (written && definition.data.preview > 0) {
    auto preview = co_await add_preview(services, *trainer, definition, deadline);
    if (preview)
      blobs.push_back(*std::move(preview));
    else
      failed = std::move(preview).error();
  }
  co_await trainer->close();
  if (!written) co_return std::move(written).error();
  if (failed) co_return *std::move(failed);
  auto weights = co_await add_blob(services, std::string(kWeightsBlob), path);
  std::error_code ec;
  fs::remove(path, ec);
  if (!weights) co_return std::move(weights).error();
  blobs.push_back(*std::move(weights));
  co_return blobs;
}

}  // namespace

Co<Result<FoundTask>> publish_task(Services& services, PublishJob job, EventSink events) {
  WAGGLE_CO_TRY(auto const text, read_file(job.toml, kMaxTomlBytes));
  WAGGLE_CO_TRY(auto definition, task::Definition::parse(as_text(text), job.toml.string()));
  std::map<std::string, fs::path> files;
  if (!job.end) {
    auto const folder = job.files.empty() ? fs::absolute(job.toml).parent_path() : job.files;
    WAGGLE_CO_TRY(files, locate_files(definition, folder));
  }
  WAGGLE_CO_TRY(auto const key, operator_key(services, job.operator_name));
  auto const joined = co_await services.joined(services.runtime().now() + kLookBeforePublish);
  if (!joined && joined.error().code == Errc::cancelled) co_return joined.error();
  if (!job.force) {
    WAGGLE_CO_TRY_STATUS(co_await check_free(services, definition.prefix, key.peer_id()));
  }

  task::TaskRecord record;
  record.prefix = definition.prefix;
  record.operator_id = key.peer_id();
  record.ended = job.end;
  // Unix milliseconds: later publications win, from whichever machine the operator publishes.
  record.version = static_cast<std::uint64_t>(services.runtime().unix_time() * 1000);
  if (!job.end) {
    events(
        events::state(services, "preparing", cat("preparing ", definition.title, ": data files")));
    for (auto const& [name, path] : files) {
      WAGGLE_CO_TRY(auto ref, co_await add_blob(services, name, path));
      record.blobs.push_back(std::move(ref));
    }
    events(events::state(
        services, "preparing", cat("preparing ", definition.title, ": initial weights")));
    WAGGLE_CO_TRY(auto made, co_await model_blobs(services, definition, std::move(files)));
    for (auto& ref : made) record.blobs.push_back(std::move(ref));
  }
  record.toml = definition.to_toml();
  FoundTask published{record, record.seal(key)};
  if (published.envelope.size() > task::TaskRecord::kMaxBytes)
    co_return Error{Errc::too_large,
                    cat("the signed task takes ",
                        published.envelope.size(),
                        " bytes, at most ",
                        task::TaskRecord::kMaxBytes,
                        " travel")};
  services.directory().keep_alive(published.record, published.envelope, job.listed);
  WAGGLE_CO_TRY_STATUS(co_await remember_task(services, published, true));
  serve_files_of(services, published.record);

  task::Link const link{definition.prefix, key.peer_id(), services.link_addresses()};
  events(events::published(services, link.text(), definition.prefix, record.version));
  co_return published;
}

}  // namespace waggle::node
