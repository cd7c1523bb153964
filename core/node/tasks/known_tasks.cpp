// SPDX-License-Identifier: MIT
#include "core/node/tasks/known_tasks.hpp"

#include <algorithm>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/device/machine.hpp"
#include "core/node/api/examples_json.hpp"
#include "core/node/tasks/files.hpp"

namespace waggle::node {
namespace {

constexpr Duration kLookTime = std::chrono::minutes(1);
constexpr Duration kPreviewTime = std::chrono::minutes(1);
constexpr Duration kBrowseFor = std::chrono::minutes(10);
constexpr Duration kDirectoryTime = std::chrono::seconds(20);
constexpr Duration kDirectoryEvery = std::chrono::minutes(2);
constexpr Duration kDirectoryRetry = std::chrono::seconds(5);
constexpr Duration kJudgeEvery = std::chrono::seconds(5);
constexpr std::uint64_t kMiB = 1u << 20;

std::string model_words(task::Definition::Model const& m) {
  if (m.family == "resnet") return cat("ResNet-", m.depth);
  return cat("GPT, ", m.layers, " layers of ", m.embedding);
}

// Parameters, and what the optimizer keeps for each; two saved states.
std::uint64_t saved_bytes(task::Definition const& d, std::uint64_t weights) {
  std::uint64_t copies = 1;
  if (d.train.optimizer == "adamw") copies = 3;
  if (d.train.optimizer == "sgd" && d.train.momentum > 0) copies = 2;
  return 2 * copies * weights;
}

/// At most `most` bytes of it.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(utf8_prefix(text, most).size());
  return text + "…";
}

std::string mib(std::uint64_t bytes) {
  return cat(bytes / kMiB, " MiB");
}

}  // namespace

KnownTasks::KnownTasks(Services& services, JoinedTasks const& joined)
    : services_(services),
      joined_(joined),
      browse_asked_(services.runtime()),
      scope_(services.runtime()) {
  scope_.spawn("directory", read_directory());
}

Co<void> KnownTasks::close() {
  co_await scope_.close();
}

KnownTaskView KnownTasks::card(task::TaskRecord const& record, std::string source) const {
  KnownTaskView view;
  view.operator_id = crypto::to_text(record.operator_id);
  view.prefix = record.prefix;
  view.link = task::Link{record.prefix, record.operator_id, {}}.text();
  view.source = std::move(source);
  view.state = "found";
  auto const d = task::Definition::parse(record.toml, cat("task ", record.prefix));
  if (!d) {
    // A task of a later version, as a rule.
    view.state = "failed";
    view.reason = d.error().detail;
    view.fits = false;
    return view;
  }
  view.title = d->title;
  view.description = d->description;
  view.licence = d->data.licence;
  view.model = model_words(d->model);
  view.data = d->data.format;
  view.memory_needed = static_cast<std::uint64_t>(d->needs.memory_mib) * kMiB;
  std::uint64_t weights = 0;
  for (auto const& ref : record.blobs) {
    // A record's sizes are its operator's claim; sums of claims must not wrap.
    auto const size = std::min(ref.size, blob::kMaxBlobBytes);
    if (ref.name == kWeightsBlob) weights = size;
    if (!services_.blobs().complete(ref.id)) view.download += size;
  }
  view.parameters = weights / sizeof(float);
  view.disk_needed = view.download + saved_bytes(*d, weights);
  return view;
}

void KnownTasks::judge(KnownTaskView& view) const {
  if (view.state != "found") return;
  view.fits = true;
  view.missing.clear();
  if (view.joined) return;
  if (memory_ < view.memory_needed)
    view.missing =
        cat("memory: it needs ", mib(view.memory_needed), ", ", mib(memory_), " are free");
  else if (disk_ < view.disk_needed)
    view.missing = cat("disk: it needs ", mib(view.disk_needed), ", ", mib(disk_), " are free");
  view.fits = view.missing.empty();
}

void KnownTasks::look(task::Link link) {
  services_.add_peers(link.peers);
  std::erase_if(looked_, [&](Looked const& one) {
    return one.link.prefix == link.prefix && one.link.operator_id == link.operator_id;
  });
  if (looked_.size() >= kMostLooked) looked_.pop_front();
  Looked one{link, {}, ++serial_};
  if (!link.operator_id.empty()) one.view.operator_id = crypto::to_text(link.operator_id);
  one.view.prefix = link.prefix;
  one.view.link = link.text();
  one.view.source = "link";
  one.view.state = "looking";
  looked_.push_back(std::move(one));
  scope_.spawn("look at a link", find(std::move(link), serial_));
}

Co<void> KnownTasks::find(task::Link link, std::uint64_t serial) {
  auto const deadline = services_.runtime().now() + kLookTime;
  auto found = co_await find_task(services_, link, deadline);
  if (!found && found.error().code == Errc::cancelled) co_return;
  auto const at = std::ranges::find(looked_, serial, &Looked::serial);
  if (at == looked_.end()) co_return;
  auto& view = at->view;
  if (!found) {
    view.state = "failed";
    view.reason = found.error().detail;
  } else if (auto const* const task = std::get_if<FoundTask>(&*found)) {
    view = card(task->record, "link");
    want_preview(task->record);
    // With the addresses of the link that was given, so that joining may use them.
    link.operator_id = task->record.operator_id;
    view.link = link.text();
  } else {
    view.state = "choice";
    for (auto const& id : std::get<NeedsChoice>(*found).operators)
      view.choices.push_back(crypto::to_text(id));
  }
}

void KnownTasks::want_preview(task::TaskRecord const& record) {
  auto const d = task::Definition::parse(record.toml, cat("task ", record.prefix));
  auto const ref = std::ranges::find(record.blobs, kPreviewBlob, &task::BlobRef::name);
  if (!d || d->data.preview == 0 || ref == record.blobs.end()) return;
  auto const known = std::ranges::find(previews_, ref->id, &decltype(previews_)::value_type::first);
  if (known != previews_.end()) return;
  if (previews_.size() >= Examples::kMostPreviews) previews_.pop_front();
  previews_.emplace_back(ref->id, Preview{});
  scope_.spawn("a task's preview", fetch_preview(record.operator_id, record.prefix, ref->id));
}

Co<void> KnownTasks::fetch_preview(PeerId operator_id, std::string prefix, blob::BlobId id) {
  std::vector<PeerId> hints;
  for (auto const& peer : services_.swarm().peers()) hints.push_back(peer.id);
  std::function<void(blob::FetchProgress const&)> const silent;
  auto const deadline = services_.runtime().now() + kPreviewTime;
  auto const path =
      co_await services_.blobs().fetch(id, std::move(hints), silent, deadline, kMaxPreviewBytes);
  if (!path && path.error().code == Errc::cancelled) co_return;
  auto read = [&path]() -> Result<Preview> {
    if (!path) return path.error();
    WAGGLE_TRY(auto const text, read_file(*path, kMaxPreviewBytes));
    return preview_from_json(as_text(text));
  };
  auto preview = co_await on(services_.disk(), services_.runtime(), std::move(read));
  auto const at = std::ranges::find(previews_, id, &decltype(previews_)::value_type::first);
  if (at == previews_.end()) co_return;
  if (!preview) {
    // Asked for again when somebody looks again.
    log::info("node", "no preview of ", prefix, ": ", preview.error().detail);
    previews_.erase(at);
    co_return;
  }
  at->second = *std::move(preview);
  // Whose it is the signed record says, not the blob.
  at->second.operator_id = crypto::to_text(operator_id);
  at->second.prefix = std::move(prefix);
  joint_.reset();
}

std::shared_ptr<Examples const> KnownTasks::with_previews(std::shared_ptr<Examples const> made) {
  bool const any =
      std::ranges::any_of(previews_, [](auto const& known) { return !known.second.items.empty(); });
  if (!any) return made;
  if (joint_ && made == made_) return joint_;
  auto joint = made ? std::make_shared<Examples>(*made) : std::make_shared<Examples>();
  for (auto const& [id, preview] : previews_)
    if (!preview.items.empty()) joint->previews.push_back(preview);
  made_ = std::move(made);
  joint_ = std::move(joint);
  return joint_;
}

void KnownTasks::browse() {
  browse_until_ = services_.runtime().now() + kBrowseFor;
  browse_asked_.notify_all();
}

Co<void> KnownTasks::read_directory() {
  auto& runtime = services_.runtime();
  for (;;) {
    while (runtime.now() >= browse_until_) {
      auto const woken = co_await browse_asked_.wait();
      if (!woken) co_return;
    }
    auto const deadline = runtime.now() + kDirectoryTime;
    auto const records = co_await services_.directory().listed(deadline);
    if (!records && records.error().code == Errc::cancelled) co_return;
    if (records) {
      listed_.clear();
      for (auto const& record : *records) {
        if (listed_.size() >= kMostListed) break;
        auto view = card(record, "directory");
        view.description = cut(std::move(view.description), kMostDescribed);
        listed_.push_back(std::move(view));
        if (listed_.size() <= Examples::kMostPreviews) want_preview(record);
      }
    } else {
      log::debug("node", "the public directory was not read: ", records.error().detail);
    }
    auto const slept = co_await runtime.sleep_for(records ? kDirectoryEvery : kDirectoryRetry);
    if (!slept) co_return;
  }
}

void KnownTasks::forget(Command const& command) {
  std::erase_if(looked_, [&](Looked const& one) {
    return command.names(one.view.operator_id, one.view.prefix);
  });
}

std::vector<KnownTaskView> KnownTasks::views() {
  auto const now = services_.runtime().now();
  if (judged_ == TimePoint{} || now - judged_ > kJudgeEvery) {
    judged_ = now;
    if (auto const memory = device::memory()) memory_ = memory->available;
    disk_ = device::disk_available(services_.options().data_dir).value_or(0);
    joined_cards_.clear();
    for (auto const& [key, entry] : joined_.all()) {
      joined_cards_.push_back(card(entry.found.record, "joined"));
      joined_cards_.back().joined = true;
    }
  }
  std::vector<KnownTaskView> views;
  auto const add = [&](KnownTaskView view) {
    bool const there = std::ranges::any_of(views, [&](KnownTaskView const& other) {
      return other.prefix == view.prefix && other.operator_id == view.operator_id;
    });
    if (there) return;
    judge(view);
    views.push_back(std::move(view));
  };
  for (auto const& view : joined_cards_) add(view);
  for (auto const& one : looked_) add(one.view);
  for (auto const& view : listed_) add(view);
  return views;
}

}  // namespace waggle::node
