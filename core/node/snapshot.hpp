// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace waggle::node {

/// Everything a front end may show, as plain values, immutable once published. Fields are only ever
/// added. Times are Unix seconds, durations seconds, sizes bytes, rates per second, unless a name
/// says otherwise.

struct PeerView {
  std::string id;  ///< base58
  std::string address;
  std::string agent;
  bool relayed = false;
  bool inbound = false;
  std::optional<double> round_trip_ms;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double connected_for = 0;
};

/// The last round of a task, as the optimizer reported it.
struct RoundView {
  std::int64_t epoch = 0;
  std::string outcome;             ///< averaged | local | alone
  std::string why;                 ///< why not averaged
  std::vector<std::string> group;  ///< peer ids
  double seconds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t values_sent = 0;
};

/// Another peer that trains a task, by its own record in the DHT.
struct VolunteerView {
  std::string id;                 ///< base58
  double samples_per_second = 0;  ///< as claimed, less what cannot be; 0 of one that is not counted
  std::uint64_t samples = 0;      ///< of its epoch, in the same way
  std::int64_t epoch = 0;
  double age = 0;  ///< seconds since it said so
  bool connected = false;
  std::string reason;  ///< why it is not counted; empty: it is
};

struct TaskView {
  std::string operator_id;
  std::string prefix;
  std::string title;
  std::string link;
  /// finding | choice | fetching | starting | training | paused | finishing | done | failed |
  /// waiting (joined and kept alive, but another one trains)
  std::string state;
  std::string phase;   ///< what the optimizer is doing, in words
  std::string reason;  ///< why paused or failed
  /// While paused: you | crash | disk | guest; guest: resume runs anyway. "you" also while it
  /// fetches or starts, and will not train then.
  std::string paused_by;
  std::int64_t epoch = 0;
  std::int64_t swarm_epoch = 0;
  std::uint64_t samples_this_epoch = 0;
  std::uint64_t swarm_samples = 0;
  std::uint64_t target_batch_size = 0;
  double samples_per_second = 0;
  double swarm_samples_per_second = 0;
  std::size_t swarm_peers = 0;
  std::size_t place = 0;  ///< ours among them by claimed samples a second, from 1; 0: not known
  double eta = 0;         ///< seconds until the epoch is full
  std::optional<double> loss;  ///< ours, mean over the last epoch
  std::optional<double> learning_rate;
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  std::uint64_t samples_given = 0;  ///< since the program started
  std::uint64_t fetch_done = 0;
  std::uint64_t fetch_total = 0;
  std::optional<RoundView> last_round;
  std::vector<std::string> ignored_peers;
  std::vector<VolunteerView> volunteers;  ///< we not among them
  std::vector<std::string> choices;       ///< of "choice": operators, of whom a person chooses one
  std::optional<double> swarm_loss;       ///< the median of what peers claim of their last epochs
  std::size_t swarm_loss_peers = 0;       ///< how many claims that is, ours included
};

/// A task that could be joined, or is: its card.
struct KnownTaskView {
  std::string operator_id;
  std::string prefix;
  std::string link;
  std::string source;                ///< joined | link | directory | lan
  std::string state;                 ///< looking | found | choice | failed
  std::string reason;                ///< why failed, or what is waited for
  std::vector<std::string> choices;  ///< of "choice": operators
  std::string title;
  std::string description;
  std::string licence;           ///< of the data
  std::string model;             ///< "resnet-8", "gpt, 4 layers"
  std::string data;              ///< the data's format
  std::uint64_t download = 0;    ///< what is not here yet
  std::uint64_t parameters = 0;  ///< about
  std::uint64_t memory_needed = 0;
  std::uint64_t disk_needed = 0;  ///< for the download and saved states
  bool fits = true;               ///< this machine has what it needs
  std::string missing;            ///< what it lacks, in words
  bool joined = false;
};

struct ContributionView {
  std::uint64_t samples = 0;
  std::uint64_t rounds = 0;
  double credits = 0;  ///< GFLOP of training
  double hours = 0;
  double kwh = 0;  ///< of electricity, about: measured where the machine tells, else estimated
};

/// What was given in one span of time.
struct SpanView {
  double begin = 0;  ///< Unix seconds
  std::uint64_t samples = 0;
  double hours = 0;
  double kwh = 0;
};

/// What the rules of a good guest say ([guest] in waggle.toml), whether or not a task trains.
struct GuestView {
  bool resting = false;             ///< the rules say: do not compute
  std::string reason;               ///< why, in words; empty unless resting
  std::vector<std::string> causes;  ///< all that hold now, overridden ones too
  bool overridden = false;          ///< some hold, and the person said to run all the same
  bool followed = true;             ///< false: started with --always
  std::string power = "medium";     ///< light | medium | full
  std::size_t threads = 0;          ///< that train
  double duty = 1;                  ///< the share of their time
  bool on_gpu = false;              ///< the trainer's work, or the last one's
};

struct GpuView {
  std::string name;
  std::optional<double> busy;  ///< 0 to 1
  std::optional<std::uint64_t> memory_used;
  std::optional<std::uint64_t> memory_total;
  std::optional<double> celsius;
  std::optional<double> watts;
};

/// This machine now; what it cannot tell is unset.
struct MachineView {
  std::size_t cores = 0;
  double watts_per_core = 0;         ///< of a busy one
  bool watts_measured = false;       ///< by the machine itself; else it is an estimate
  std::optional<double> cpu;         ///< share of all processors in use, 0 to 1
  std::optional<double> cpu_others;  ///< by programs that are not Waggle; only if a rule asks
  std::optional<double> celsius;
  std::uint64_t memory_total = 0;
  std::uint64_t memory_available = 0;
  std::uint64_t disk_available = 0;  ///< on the data directory's volume
  bool has_battery = false;
  bool on_battery = false;
  std::optional<int> battery_percent;
  std::optional<double>
      idle_seconds;  ///< since keyboard or mouse were touched; only if a rule asks
  std::optional<bool> metered;
  std::uint64_t traffic_today = 0;  ///< bytes over the network since midnight, both ways
  bool kept_awake = false;          ///< by us: it does not fall asleep
  std::vector<GpuView> gpus;
};

/// One setting of waggle.toml and what holds; values as TOML writes them.
struct SettingView {
  std::string name;      ///< dotted: "guest.on_battery"
  std::string value;     ///< what the file says now, even if it counts from the next start only
  std::string standard;  ///< where nothing is said
  std::string from;      ///< flag | file | default; a flag stands until the node ends
  bool live = false;     ///< a change counts at once; else from the next start
  std::string why;       ///< what makes `value` another where nothing is said; empty: nothing
};

/// A machine that may watch this one over /waggle/control/1.
struct WatcherView {
  std::string peer_id;  ///< base58
  std::string name;
  std::string right;  ///< watch | control
  double since = 0;   ///< when it was paired
  bool connected = false;
  std::optional<double> last_seen;  ///< since the program started
};

/// Who may watch this machine. Empty in what a watcher gets.
struct ControlView {
  bool served = false;  ///< false: this node takes no connections, so that nobody can watch it
  std::vector<WatcherView> paired;
  double pairing_until = 0;         ///< until when the code that is shown holds; 0: none is
  std::uint64_t pairing_tries = 0;  ///< wrong ones since it was shown
};

struct Snapshot {
  static constexpr int kSchema = 1;

  std::string version;
  std::int64_t pid = 0;
  double time = 0;
  double uptime = 0;
  std::string peer_id;
  std::vector<std::string> addresses;
  std::vector<PeerView> peers;
  std::vector<TaskView> tasks;
  ContributionView today;
  ContributionView week;
  ContributionView all_time;
  std::vector<SpanView> by_hour;      ///< the last 24, empty ones too, oldest first
  std::vector<SpanView> by_day;       ///< the last 7
  std::vector<SpanView> by_week;      ///< since the first, at most the last 52
  std::uint64_t socket_bytes_in = 0;  ///< all bytes ever read from sockets
  std::uint64_t socket_bytes_out = 0;
  std::size_t dht_table = 0;
  std::size_t dht_records = 0;
  double clock_offset = 0;  ///< seconds, the swarm's clock less ours
  std::vector<std::string>
      notices;  ///< things a person should know: "port 31337 was busy, listening on 31338"
  GuestView guest;
  MachineView machine;
  ControlView control;
  std::vector<SettingView> settings;
  std::vector<KnownTaskView> known_tasks;  ///< joined ones first, then as they were learnt
};

}  // namespace waggle::node
