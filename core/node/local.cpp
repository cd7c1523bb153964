// SPDX-License-Identifier: MIT
#include "core/node/local.hpp"

#include <algorithm>

#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/node/services.hpp"
#include "core/node/session/checkpoint.hpp"
#include "core/node/session/trainer.hpp"
#include "core/node/tasks/forget.hpp"

namespace waggle::node {
namespace {

constexpr Duration kExportTime = std::chrono::minutes(10);

// Runs one coroutine to its end on a runtime of its own.
template <class T>
Result<T> run(SystemRuntime& runtime, Co<Result<T>> work) {
  std::optional<Result<T>> result;
  auto keep = [](Co<Result<T>> inner, std::optional<Result<T>>& out) -> Co<void> {
    out = co_await std::move(inner);
  };
  Scope scope(runtime);
  scope.spawn("local", keep(std::move(work), result));
  runtime.run_to_completion();
  return *std::move(result);
}

Result<store::KnownTask> choose_task(store::Store& store, std::string const& prefix) {
  WAGGLE_TRY(auto tasks, store.tasks());
  if (!prefix.empty()) std::erase_if(tasks, [&](auto const& t) { return t.prefix != prefix; });
  if (tasks.empty())
    return Error{Errc::not_found,
                 prefix.empty() ? std::string("this data directory knows no task")
                                : cat("this data directory knows no task ", prefix)};
  if (tasks.size() > 1) {
    std::string names;
    for (auto const& t : tasks) names += cat(' ', t.prefix);
    return Error{Errc::invalid, cat("several tasks are here; name one:", names)};
  }
  return std::move(tasks.front());
}

Co<Result<Exported>> export_task(Services& services,
                                 store::KnownTask known,
                                 std::filesystem::path target) {
  auto const operator_id = PeerId::from_bytes(known.operator_id);
  if (!operator_id) co_return Error{Errc::malformed, "the stored task has no operator"};
  WAGGLE_CO_TRY(auto const record,
                task::TaskRecord::open(known.envelope, *operator_id, known.prefix));
  WAGGLE_CO_TRY(auto const definition,
                task::Definition::parse(record.toml, cat("task ", known.prefix)));
  WAGGLE_CO_TRY(auto const state, co_await load_checkpoint(services, *operator_id, known.prefix));
  if (!state)
    co_return Error{Errc::not_found, cat("no state of ", known.prefix, " has been saved here yet")};
  auto const deadline = services.runtime().now() + kExportTime;
  TrainerOptions options;
  options.threads = services.options().threads;
  WAGGLE_CO_TRY(auto const trainer,
                co_await Trainer::start(services, definition, std::move(options), deadline));
  auto done = co_await trainer->restore(*state, deadline);
  if (done) done = co_await trainer->write_weights(target, deadline);
  auto const parameters = trainer->parameter_count();
  co_await trainer->close();
  if (!done) co_return std::move(done).error();
  co_return Exported{known.prefix, state->epoch, parameters};
}

}  // namespace

Result<Exported> export_weights(Options const& options,
                                std::string const& prefix,
                                std::filesystem::path const& target) {
  SystemRuntime runtime;
  WAGGLE_TRY(auto const services, Services::open(runtime, options));
  WAGGLE_TRY(auto known, choose_task(services->store(), prefix));
  return run<Exported>(runtime, export_task(*services, std::move(known), target));
}

Result<std::uint64_t> leave_task(Options const& options, std::string const& prefix) {
  SystemRuntime runtime;
  WAGGLE_TRY(auto const services, Services::open(runtime, options));
  auto& store = services->store();
  WAGGLE_TRY(auto const known, choose_task(store, prefix));
  auto const operator_id = PeerId::from_bytes(known.operator_id);
  if (!operator_id) return Error{Errc::malformed, "the stored task has no operator"};
  WAGGLE_TRY(auto const forgotten,
             forget_task(store, options.data_dir, *operator_id, known.prefix));
  auto freed = forgotten.freed;
  for (auto const& id : forgotten.blobs) {
    auto const text = id.text();
    auto const file = options.data_dir / "blobs" / text.substr(0, 2) / text;
    std::error_code ec;
    auto const size = std::filesystem::file_size(file, ec);
    if (std::filesystem::remove(file, ec)) freed += size;
    WAGGLE_TRY_STATUS(store.remove_blob(id.hash));
  }
  return freed;
}

std::string task_field_help() {
  return task::Definition::field_help();
}

}  // namespace waggle::node
