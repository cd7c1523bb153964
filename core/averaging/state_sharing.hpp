// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/averaging/schema.hpp"
#include "core/base/compute.hpp"
#include "core/compress/codec.hpp"
#include "core/dht/dht.hpp"
#include "core/net/host.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::averaging {

/// A whole training state at an epoch boundary. Immutable once made; donors serve it while training
/// goes on.
struct StateSnapshot {
  std::int64_t epoch = 0;
  Schema schema;              ///< parameters, extras, optimizer tensors: the order of the download
  std::vector<float> values;  ///< flat, in schema order
  wire::Msgpack optimizer_metadata;  ///< as PyTorch 1.13 flattens the optimizer's state_dict
  double test_loss =
      0;  ///< the donor's own loss on the fixed test samples; /waggle/state/1 carries it
  bool has_test_loss = false;
};

struct StateSharingOptions {
  std::string prefix;  ///< "<run_id>_state_averager"
  std::string class_name = "TrainingStateAverager";
  compress::Policy compression{compress::CompressionType::none};
  Duration declare_period = std::chrono::seconds(30);  ///< of a new state; longer while it stays
  Duration request_timeout = std::chrono::seconds(15);
  bool serve = true;  ///< false in client mode
};

struct DownloadedState {
  StateSnapshot state;
  PeerId donor;
  bool native =
      false;  ///< came over /waggle/state/1 (exact, with test_loss) rather than hivemind's RPC
};

/// Serves our latest snapshot (hivemind's rpc_download_state and /waggle/state/1), advertises it
/// under
/// "<prefix>.all_averagers" with the epoch as priority, and downloads from peers.
/// Source: spec/hivemind-averaging.md section 5; ours: core/averaging/README.md. Thread: the
/// network thread.
class StateSharing {
 public:
  StateSharing(net::Host& host, dht::Dht& dht, Executor& compute, StateSharingOptions options);
  ~StateSharing();
  [[nodiscard]] Co<void> close();

  /// Replaces what is served; running downloads finish with the snapshot they began with.
  void publish(std::shared_ptr<StateSnapshot const> snapshot);

  struct Donor {
    PeerId peer;
    double priority = 0;  ///< claimed epoch
  };

  /// Live donors, highest priority first, ties in random order.
  [[nodiscard]] Co<Result<std::vector<Donor>>> donors(TimePoint deadline);

  /// Downloads from one donor, expecting `schema` (shapes and finiteness are checked before the
  /// result is given). Prefers /waggle/state/1, else hivemind's RPC. `progress(done, total)` in
  /// bytes, total 0 if unknown. Errors: refused, malformed (another schema, non-finite), closed,
  /// timeout, cancelled.
  [[nodiscard]] Co<Result<DownloadedState>> download(
      PeerId donor,
      Schema const& schema,
      std::function<void(std::uint64_t, std::uint64_t)> progress,
      TimePoint deadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace waggle::averaging
