// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "core/base/scope.hpp"
#include "core/blob/disk.hpp"
#include "core/blob/fetch_plan.hpp"
#include "core/blob/messages.hpp"
#include "core/blob/provider_book.hpp"

namespace waggle::blob::detail {

/// What a Fetch needs of the service that it belongs to.
class Keeper {
 public:
  virtual ~Keeper() = default;
  [[nodiscard]] virtual net::Host& host() noexcept = 0;
  [[nodiscard]] virtual dht::Dht& dht() noexcept = 0;
  [[nodiscard]] virtual Executor& executor() noexcept = 0;
  [[nodiscard]] virtual Disk const& disk() const noexcept = 0;
  [[nodiscard]] virtual Index& index() noexcept = 0;
  [[nodiscard]] virtual std::size_t fetch_streams() const noexcept = 0;

  /// The manifest that is known, checked against the id; null if none.
  [[nodiscard]] virtual std::shared_ptr<Manifest const> manifest(BlobId const& id) = 0;
  /// Hashes what the index claims, once a process, and corrects the index.
  [[nodiscard]] virtual Co<void> check_claims(BlobId id) = 0;
  /// Evicts what nobody joined until `need` more bytes fit. Errors: too_large (need, have, path),
  /// io.
  [[nodiscard]] virtual Co<Status> make_room(BlobId id, std::uint64_t need) = 0;
  /// A chunk is on disk and marked.
  virtual void stored(BlobId const& id, std::size_t bytes) = 0;
};

/// One blob on its way. Several callers may wait for it; without one it ends. Lives in a
/// shared_ptr, because waiters may outlive the service by one turn of the loop.
class Fetch {
 public:
  Fetch(Keeper& keeper, BlobId id);

  /// Runs to the end, in the service's scope.
  [[nodiscard]] Co<void> run();
  void add_hints(std::vector<PeerId> const& hints);
  void abandon();
  void lost(std::size_t chunk);

  [[nodiscard]] bool done() const noexcept { return result_.has_value(); }

  [[nodiscard]] Status const& result() const noexcept { return *result_; }

  [[nodiscard]] FetchProgress progress() const;
  /// Bytes that it will still write.
  [[nodiscard]] std::uint64_t missing_bytes() const;
  /// What stands in its way, for the error of a waiter whose deadline passed.
  [[nodiscard]] Error timed_out() const;

  Signal changed;
  std::size_t waiters = 0;

 private:
  [[nodiscard]] Co<Status> work_to_the_end(Scope& scope);
  [[nodiscard]] Co<Status> begin_plan();
  [[nodiscard]] Co<void> find_more();
  [[nodiscard]] Co<void> use(PeerId peer);
  [[nodiscard]] Co<Ending> talk(PeerId peer);
  [[nodiscard]] Co<Ending> ask_manifest(net::Stream& stream, PeerId peer);
  [[nodiscard]] Co<Ending> ask_chunks(net::Stream& stream, PeerId peer);
  [[nodiscard]] Co<Result<Answer>> ask(net::Stream& stream, Request request, std::size_t limit);
  [[nodiscard]] Ending judge(PeerId const& peer, Error const& error);

  Keeper& keeper_;
  BlobId id_;
  std::shared_ptr<Manifest const> manifest_;
  std::optional<FetchPlan> plan_;
  ProviderBook book_;
  std::uint64_t done_bytes_ = 0;
  bool abandoned_ = false;
  std::optional<Error> failure_;  // ours: the disk
  std::string last_trouble_;      // theirs
  std::optional<Status> result_;
};

}  // namespace waggle::blob::detail
