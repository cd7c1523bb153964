// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/averaging/averager.hpp"
#include "core/averaging/group.hpp"
#include "core/averaging/messages.hpp"
#include "core/averaging/partition.hpp"
#include "core/averaging/reducer.hpp"
#include "core/base/scope.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::averaging {

/// One group's butterfly all-reduce: we average our parts for everybody, everybody averages theirs
/// for us. Made when the group is, so that streams of faster members find it; run once our values
/// are ready.
///
/// Traffic of a member with share s of a vector of V bytes, n members: out V(1 − s) parts and V·s(n
/// − 1) replies, and the same in. Up to parts_in_flight parts a sender are read ahead of the
/// slowest one; then back-pressure holds it.
///
/// What a missing member costs: a dead, slow or lying sender its own parts (banned: no longer
/// waited for); a dead reducer its parts' averaging (they keep local values). Never the round. A
/// sender that makes the others wait for more than sender_timeout and for longer than they
/// themselves needed so far is banned, too. Source: spec/hivemind-averaging.md section 4. Thread:
/// the network thread; codec and sums on `compute`.
class AllReduce : public std::enable_shared_from_this<AllReduce> {
 public:
  /// `options` and the references must outlive it. `fractions` as group_fractions gives them.
  AllReduce(net::Host& host,
            Executor& compute,
            AveragerOptions const& options,
            std::shared_ptr<Group const> group,
            std::vector<std::uint64_t> fractions);
  ~AllReduce();

  [[nodiscard]] Group const& group() const noexcept { return *group_; }

  /// Serves one member's upload; `first` is its first message, already checked to name this group.
  [[nodiscard]] Co<Status> serve(net::rpc::ServerCall& call, Bytes first);

  /// Contributes and takes part until all is averaged or given up. Once. Errors: invalid (a value
  /// is not finite; the group is told that we leave), timeout, cancelled (also by abandon).
  [[nodiscard]] Co<Result<RoundReport>> run(std::span<float> values,
                                            double weight,
                                            TimePoint deadline);

  /// Before run(): `member` is not waited for and given nothing.
  void exclude(PeerId const& member);
  /// Ends everything at once: who waits is told so. Idempotent.
  void abandon() noexcept;
  /// Tells the others that we will send nothing, so that nobody waits for us.
  [[nodiscard]] Co<void> say_goodbye();

  [[nodiscard]] bool started() const noexcept { return started_; }

  [[nodiscard]] bool over() const noexcept { return over_; }

  /// Uploads being served.
  [[nodiscard]] std::size_t serving() const noexcept { return serving_; }

 private:
  struct Sender;
  struct Upload;
  struct Sent;

  Co<void> read_upload(net::rpc::ServerCall& call, Bytes first, std::size_t sender);
  Co<Status> take_part(Bytes item, std::size_t sender, std::size_t part);
  Co<Status> send_replies(net::rpc::ServerCall& call, std::size_t sender);
  Co<void> contribute_own(std::span<float const> values, double weight);
  Co<void> finish_parts(std::span<float> values);
  Co<void> watch_senders();
  Co<void> exchange(std::size_t reducer,
                    std::span<float> values,
                    double weight,
                    TimePoint deadline);
  Co<void> encode_uploads(Upload& upload, std::span<float const> values);
  Co<void> write_uploads(Upload& upload,
                         std::span<float const> values,
                         double weight,
                         TimePoint deadline);
  Co<Status> read_replies(Upload& upload, std::span<float> values, TimePoint deadline);
  Co<Status> lock_part(std::size_t part);
  void unlock_part(std::size_t part) noexcept;
  void ban(std::size_t sender, std::string const& why);
  void tell_lost(std::size_t member, std::string const& what);
  [[nodiscard]] MessageCode refuse(net::rpc::ServerCall const& call,
                                   AveragingData const& first) const;
  [[nodiscard]] RoundReport report() const;

  // Fixed at construction.
  net::Host& host_;
  Runtime& runtime_;
  Executor& compute_;
  AveragerOptions const& options_;
  std::shared_ptr<Group const> group_;
  std::vector<std::uint64_t> fractions_;
  Partition partition_;
  std::vector<std::size_t> mine_;  // our parts, indices into partition_.parts
  std::string rpc_name_;

  // Net thread.
  Reducer reducer_;
  std::vector<Sender> senders_;
  std::vector<bool> busy_;  // our parts whose sum is being worked on
  Signal changed_;
  bool started_ = false;
  bool cancelled_ = false;
  bool over_ = false;
  TimePoint started_at_{};
  std::size_t serving_ = 0;
  std::size_t exchanging_ = 0;
  bool own_done_ = false;
  std::vector<bool> excluded_;
  std::vector<PeerId> failed_reducers_;
  std::size_t averaged_elements_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::uint64_t values_sent_ = 0;
};

}  // namespace waggle::averaging
