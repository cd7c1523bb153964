// SPDX-License-Identifier: MIT
// The program as a volunteer meets it: real processes, a real window under Xvfb, a real line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench.hpp"
#include "tests/bench/line.hpp"
#include "tests/bench/processes.hpp"
#include "tests/bench/programs.hpp"

namespace waggle::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kData[] = "/usr/share/datasets/fashion-mnist";
constexpr double kSettle = 65;     // seconds until a trainer that has nothing to do is let go
constexpr double kPatience = 120;  // seconds for a node to get to where it is measured

struct Folder {
  fs::path path;

  Folder() {
    std::string name = (fs::temp_directory_path() / "waggle-bench-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }

  ~Folder() {
    std::error_code ec;
    fs::remove_all(path, ec);
  }

  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
};

/// Big-endian, as MNIST's idx files are.
void put(std::ofstream& out, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(word >> shift & 0xff));
}

/// A few grey pictures to test with: an evaluation of ten thousand, now in this turn and now in
/// that, would be the largest difference between two turns.
void write_few_pictures(fs::path const& folder) {
  constexpr std::uint32_t kPictures = 32;
  constexpr std::uint32_t kSide = 28;
  std::ofstream images(folder / "few-images");
  for (auto const word : {0x803U, kPictures, kSide, kSide}) put(images, word);
  images << std::string(kPictures * kSide * kSide, 'x');
  std::ofstream labels(folder / "few-labels");
  for (auto const word : {0x801U, kPictures}) put(labels, word);
  labels << std::string(kPictures, '\0');
}

/// Fashion-MNIST's training pictures, and a task with a ResNet of this depth and width.
fs::path lay_out(fs::path const& folder, int depth, int width, char const* state_codec) {
  fs::create_directories(folder);
  for (auto const* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"})
    fs::create_symlink(fs::path(kData) / name, folder / name);
  write_few_pictures(folder);
  auto const file = folder / "task.toml";
  std::ofstream(file)
      << "[task]\nprefix = \"bench\"\ntitle = \"Bench\"\n"
         "description = \"Tells ten kinds of clothes apart.\"\n"
         "[model]\nfamily = \"resnet\"\ndepth = "
      << depth << "\nwidth = " << width
      << "\nstem = \"cifar-s2\"\nin_channels = 1\nclasses = 10\n"
         "[data]\nformat = \"idx-images\"\n"
         "train = [\"train-images-idx3-ubyte.gz\", \"train-labels-idx1-ubyte.gz\"]\n"
         "test = [\"few-images\", \"few-labels\"]\n"
         "licence = \"MIT\"\nmean = [0.286]\nstd = [0.353]\n"
         "[train]\noptimizer = \"sgd\"\nlearning_rate = 0.05\nmomentum = 0.9\n"
         "micro_batch = 16\n"
         "[swarm]\ntarget_batch_size = 4096\ncompression = \"size_adaptive\"\n"
         "state_compression = \""
      << state_codec << "\"\nmatchmaking_time = 5\n";
  return file;
}

std::vector<std::string> publish(fs::path const& toml, fs::path const& data_dir) {
  return {beside("waggle"),
          "publish",
          toml,
          "--files",
          toml.parent_path(),
          "--run",
          "--host",
          "127.0.0.1",
          "--threads",
          "1",
          "--always",
          "--json",
          "--data-dir",
          data_dir};
}

json task_of(fs::path const& data_dir) {
  auto const status = status_of(data_dir);
  if (status.is_null() || status["tasks"].empty()) return nullptr;
  return status["tasks"][0];
}

bool in_state(fs::path const& data_dir, char const* state) {
  auto const task = task_of(data_dir);
  return task.is_object() && task.value("state", "") == state;
}

void tell(fs::path const& data_dir, char const* command) {
  Program program({beside("waggle"), command, "--data-dir", data_dir}, "/dev/null");
  (void)until(20, [&] { return !program.running(); });
}

/// Xvfb, and what a window needs to find it.
struct Display {
  std::unique_ptr<Program> server;
  std::vector<std::string> environment;

  explicit Display(fs::path const& folder) {
    std::string const name = ":" + std::to_string(200 + ::getpid() % 300);
    server = std::make_unique<Program>(
        std::vector<std::string>{"Xvfb", name, "-screen", "0", "1400x1000x24", "-nolisten", "tcp"},
        folder / "xvfb");
    environment = {"DISPLAY=" + name, "LIBGL_ALWAYS_SOFTWARE=1"};
    (void)until(10, [&] { return fs::exists("/tmp/.X11-unix/X" + name.substr(1)); });
    sleep_seconds(0.5);
  }
};

std::vector<std::string> window(fs::path const& data_dir) {
  return {beside("waggle"), "window", "--json", "--data-dir", data_dir};
}

double cores_used(Program const& program, double seconds) {
  double const before = program.cpu_seconds();
  sleep_seconds(seconds);
  return (program.cpu_seconds() - before) / seconds;
}

double samples_given(fs::path const& data_dir) {
  auto const task = task_of(data_dir);
  return task.is_object() ? task.value("samples_given", 0.0) : 0;
}

/// The count just after it grew, and when that was: it grows in steps.
struct Count {
  double samples = 0;
  double at = 0;
};

Count next_count(fs::path const& data_dir) {
  constexpr double kPoll = 0.02;
  double const before = samples_given(data_dir);
  double const deadline = monotonic_seconds() + kPatience;
  for (;;) {
    Count const count{samples_given(data_dir), monotonic_seconds()};
    if (count.samples > before || count.at > deadline) return count;
    sleep_seconds(kPoll);
  }
}

double samples_a_second(fs::path const& data_dir, double seconds) {
  auto const first = next_count(data_dir);
  sleep_seconds(seconds);
  auto const last = next_count(data_dir);
  return (last.samples - first.samples) / (last.at - first.at);
}

fs::path single_file() {
  return fs::path(beside("..")) / "Waggle-x86_64";
}

void file_size(Rows& rows) {
  constexpr double kMega = 1e6;
  std::error_code ec;
  auto const file = single_file();
  auto const size = fs::file_size(file, ec);
  if (ec) {
    std::fprintf(stderr, "single file: none at %s; installer/make-single-file\n", file.c_str());
    return;
  }
  rows.push_back({.name = "single file",
                  .value = static_cast<double>(size) / kMega,
                  .unit = "MB",
                  .target = 60,
                  .larger_is_better = false});
}

/// From the start of a program that opens a bare window to its frame; 0: none here.
double bare_frame_seconds(fs::path const& folder, Display const& display) {
  auto const said = folder / "bare.json";
  Program bare({beside("waggle-bench"), kBareWindow}, said, display.environment);
  (void)until(20, [&] { return !bare.running(); });
  auto const at = last_object(said);
  return at.is_object() ? at.value("first_frame_at", 0.0) - bare.begun() : 0;
}

/// How long from start to the first frame, and what an open window costs on a paused node.
void paused_node(Rows& rows, fs::path const& data_dir, Program& node, Display const& display) {
  constexpr double kLook = 60;  // whole turns of what is done each half minute
  tell(data_dir, "pause");
  if (!until(kPatience, [&] { return in_state(data_dir, "paused"); })) return;
  sleep_seconds(kSettle);
  double const used = cores_used(node, kLook);
  rows.push_back({.name = "paused client, processor",
                  .value = 100 * used,
                  .unit = "% of a core",
                  .target = 0.1,
                  .larger_is_better = false});
  rows.push_back({.name = "paused client, resident",
                  .value = node.resident_bytes() / 1e6,
                  .unit = "MB",
                  .target = 60,
                  .larger_is_better = false,
                  .note = "waggle and all it started"});
  // First, so that neither pays for reading the driver from the disk.
  double const bare = bare_frame_seconds(data_dir.parent_path(), display);
  auto const said = data_dir.parent_path() / "window.json";
  Program shown(window(data_dir), said, display.environment);
  sleep_seconds(10);  // who opens a window looks at it: it is lively for six seconds
  double const idle = cores_used(shown, kLook);
  shown.end();
  auto const times = last_object(said);
  if (!times.is_object()) {
    std::fprintf(stderr, "the window did not open\n");
    return;
  }
  rows.push_back({.name = "start to first frame",
                  .value = times.value("first_frame_at", 0.0) - shown.begun(),
                  .unit = "s",
                  .target = 1,
                  .larger_is_better = false,
                  .reference = bare,
                  .reference_name = "bare window",
                  .note = "OpenGL by software"});
  rows.push_back({.name = "window open, nothing changes",
                  .value = 100 * idle,
                  .unit = "% of a core",
                  .target = 0.5,
                  .larger_is_better = false,
                  .note = "OpenGL by software"});
}

/// Training with the window open and without, turn by turn, so that both meet the same machine.
void beside_window(Rows& rows, fs::path const& data_dir, Display const& display) {
  constexpr double kTurn = 10;
  constexpr int kTurns = 8;
  if (!until(kPatience, [&] { return in_state(data_dir, "training"); })) return;
  sleep_seconds(5);
  double with = 0;
  double without = 0;
  double apart = 0;  // of the ratios: the sum of squares about 1
  double took = 0;   // the window and its display, in cores
  for (int i = 0; i < kTurns; ++i) {
    double const alone = samples_a_second(data_dir, kTurn);
    Program const shown(window(data_dir), data_dir.parent_path() / "window2", display.environment);
    sleep_seconds(3);
    auto const spent = [&] { return shown.cpu_seconds() + display.server->cpu_seconds(); };
    double const begun = monotonic_seconds();
    double const before = spent();
    double const beside = samples_a_second(data_dir, kTurn);
    took += (spent() - before) / (monotonic_seconds() - begun) / kTurns;
    without += alone / kTurns;
    with += beside / kTurns;
    apart += (beside / alone - 1) * (beside / alone - 1);
  }
  double const mean = with / without - 1;
  double const error = std::sqrt(std::max(0.0, apart / kTurns - mean * mean) / (kTurns - 1));
  std::ostringstream note;
  note.precision(1);
  note << std::fixed << "the ratio's standard error over " << kTurns << " turns is " << 100 * error
       << " %; the window and its display took " << 100 * took << " % of a core";
  rows.push_back({.name = "training beside the window",
                  .value = with,
                  .unit = "samples/s",
                  .target = 0.99 * without,
                  .reference = without,
                  .reference_name = "without it",
                  .note = note.str()});
}

std::string link_of(fs::path const& events) {
  std::ifstream in(events);
  for (std::string line; std::getline(in, line);) {
    auto const event = json::parse(line, nullptr, false);
    if (event.is_object() && event.value("event", "") == "published")
      return event.value("link", "");
  }
  return {};
}

/// From the start of a program that knows a link to its first samples, with 45 MB of parameters
/// and the pictures to fetch. The single file where there is one, which unpacks itself first.
void first_step(Rows& rows, fs::path const& folder) {
  Line const line;
  if (!line.trouble().empty()) {
    std::fprintf(stderr, "first step: %s\n", line.trouble().c_str());
    return;
  }
  auto command = publish(lay_out(folder / "large", 18, 64, "none"), folder / "operator");
  for (auto& word : command)
    if (word == "127.0.0.1") word = "10.98.0.1";
  Program const operator_(line.at("a", command), folder / "published");
  std::string link;
  bool const published = until(kPatience, [&] {
    link = link_of(folder / "published");
    return !link.empty() && samples_given(folder / "operator") > 0;
  });
  if (!published) {
    std::fprintf(stderr, "first step: the operator does not train\n");
    return;
  }
  bool const unpacks = fs::exists(single_file());
  Program const joiner(line.at("b",
                               {unpacks ? single_file().string() : beside("waggle"),
                                "run",
                                link,
                                "--host",
                                "10.98.0.2",
                                "--threads",
                                "1",
                                "--always",
                                "--json",
                                "--data-dir",
                                folder / "joiner"}),
                       folder / "joined",
                       {"XDG_CACHE_HOME=" + (folder / "cache").string()});
  if (!until(kPatience, [&] { return samples_given(folder / "joiner") > 0; })) {
    std::fprintf(stderr, "first step: none within %.0f s\n", kPatience);
    return;
  }
  double const took = monotonic_seconds() - joiner.begun();
  rows.push_back({.name = "start to first training step, 100 Mbit/s",
                  .value = took,
                  .unit = "s",
                  .target = 60,
                  .larger_is_better = false,
                  .note = std::string(unpacks ? "the single file unpacks itself; " : "") +
                          "45 MB of parameters, 31 MB of pictures; the operator trains on the "
                          "same machine"});
}

}  // namespace

bool is_part_of_desktop(std::string const& name) {
  return name == "file" || name == "window" || name == "training" || name == "step";
}

Rows desktop(std::string const& only) {
  Rows rows;
  auto const wanted = [&](char const* part) { return only.empty() || only == part; };
  if (wanted("file")) file_size(rows);
  Folder const folder;
  if (wanted("window") || wanted("training")) {
    Display const display(folder.path);
    auto const data_dir = folder.path / "node";
    Program node(publish(lay_out(folder.path / "small", 8, 32, "float16"), data_dir),
                 folder.path / "events");
    if (!until(kPatience, [&] { return in_state(data_dir, "training"); })) {
      std::fprintf(stderr, "the node does not train\n");
      return rows;
    }
    if (wanted("window")) {
      paused_node(rows, data_dir, node, display);
      tell(data_dir, "resume");
    }
    if (wanted("training")) beside_window(rows, data_dir, display);
  }
  if (wanted("step")) first_step(rows, folder.path);
  return rows;
}

}  // namespace waggle::bench
