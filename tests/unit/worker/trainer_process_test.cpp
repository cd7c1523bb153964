// SPDX-License-Identifier: MIT
#include "core/worker/trainer_process.hpp"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/scope.hpp"

#include "tests/support/run.hpp"

// Needs the real waggle-trainer, which the build puts at the top of the build folder.
namespace waggle::worker {
namespace {

constexpr char kConfig[] = R"({
  "model": {"family": "resnet", "depth": 8, "width": 4, "stem": "cifar-s2", "in_channels": 1, "classes": 3},
  "data": {"format": "idx-images", "crop_padding": 1, "flip": true, "mean": [0.5], "std": [0.25]},
  "train": {"optimizer": "sgd", "learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.0005, "micro_batch": 16}})";

std::filesystem::path trainer() {
  if (auto const* const build = std::getenv("WAGGLE_BINARY_DIR"))
    return std::filesystem::path(build) / "waggle-trainer";
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
         "waggle-trainer";
}

void put_be(std::ofstream& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(value >> shift));
}

/// A folder with three classes of 12 × 12 pictures that are easy to tell apart.
class Data {
 public:
  Data()
      : folder_(std::filesystem::temp_directory_path() /
                ("waggle-worker-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    write("train", 300);
    write("test", 60);
  }

  ~Data() { std::filesystem::remove_all(folder_); }

  Data(Data const&) = delete;
  Data& operator=(Data const&) = delete;

  [[nodiscard]] TrainerOptions options() const {
    TrainerOptions o;
    o.config_json = kConfig;
    o.train_files = {folder_ / "train-images", folder_ / "train-labels"};
    o.test_files = {folder_ / "test-images", folder_ / "test-labels"};
    o.seed = 7;
    o.init_seed = 3;
    o.priority = Priority::normal;
    o.executable = trainer();
    return o;
  }

  [[nodiscard]] std::filesystem::path file(char const* name) const { return folder_ / name; }

 private:
  void write(std::string const& name, std::uint32_t count) const {
    std::ofstream images(folder_ / (name + "-images"), std::ios::binary);
    std::ofstream labels(folder_ / (name + "-labels"), std::ios::binary);
    for (std::uint32_t const word : {0x00000803u, count, 12u, 12u}) put_be(images, word);
    for (std::uint32_t const word : {0x00000801u, count}) put_be(labels, word);
    std::uint32_t noise = 12345;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const label = i % 3;
      labels.put(static_cast<char>(label));
      for (std::uint32_t y = 0; y < 12; ++y)
        for (std::uint32_t x = 0; x < 12; ++x) {
          noise = noise * 1664525 + 1013904223;
          auto const bright = label == 0 ? y < 6 : label == 1 ? (x + y) % 2 == 0 : y % 4 < 2;
          images.put(static_cast<char>((bright ? 180 : 40) + (noise >> 28)));
        }
    }
  }

  std::filesystem::path folder_;
};

TimePoint in_seconds(Runtime& runtime, double s) {
  return runtime.now() + seconds(s);
}

std::uint64_t hash(std::span<float const> values) {
  std::uint64_t h = 1469598103934665603u;
  for (auto const byte : std::as_bytes(values))
    h = (h ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211u;
  return h;
}

/// Kills whatever trainer runs, `delay` after being told, `times` times.
Co<void> kill_sometimes(
    SystemRuntime& runtime, TrainerProcess& trainer, int times, int& kills, bool& stop) {
  for (int i = 0; i < times && !stop; ++i) {
    auto slept = co_await runtime.sleep_for(std::chrono::microseconds(500 + 3700 * (i % 7)));
    if (!slept || stop) co_return;
    auto const pid = trainer.pid();
    if (pid == 0) continue;
    ::kill(pid, SIGKILL);
    ++kills;
    // The second death finds it starting; before the others it is back at work.
    auto const position = trainer.stream_position();
    while (i > 0 && !stop && trainer.stream_position() == position) {
      auto waited = co_await runtime.sleep_for(std::chrono::milliseconds(1));
      if (!waited) co_return;
    }
  }
}

Co<void> train_from(
    SystemRuntime& runtime, TrainerProcess& trainer, int first, int end, std::uint64_t& result) {
  for (int step = first; step < end; ++step) {
    trainer.clear_gradients();
    double samples = 0;
    for (int part = 0; part < 2; ++part) {
      auto batch = co_await trainer.accumulate(0, in_seconds(runtime, 50));
      REQUIRE(batch);
      CHECK(batch->finite);
      samples += static_cast<double>(batch->samples);
    }
    for (auto& g : trainer.gradients()) g /= static_cast<float>(samples);
    auto applied = co_await trainer.apply(step, in_seconds(runtime, 50));
    REQUIRE(applied);
    CHECK(applied->learning_rate == doctest::Approx(0.05));
  }
  result = hash(trainer.parameters()) ^ 3 * hash(trainer.extras()) ^ 7 * hash(trainer.statistics());
}

Co<void> train(SystemRuntime& runtime, TrainerProcess& trainer, int steps, std::uint64_t& result) {
  return train_from(runtime, trainer, 0, steps, result);
}

TEST_CASE("TrainerProcess, trains a small net on the node's buffers until it knows the classes") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    CHECK(trainer.facts().statistics == std::vector<std::string>{"momentum_buffer"});
    CHECK(trainer.facts().parameters.front().name == "conv1.weight");
    CHECK(trainer.facts().train_samples == 300);
    CHECK(trainer.parameters().size() == trainer.facts().parameter_values());
    MESSAGE("sandbox: " << trainer.facts().sandbox);
    CHECK(trainer.facts().sandbox.find("none") == std::string::npos);
    auto before = co_await trainer.evaluate(in_seconds(rt, 20));
    REQUIRE(before);
    CHECK(before->samples == 60);
    std::uint64_t unused = 0;
    co_await train(rt, trainer, 30, unused);
    auto after = co_await trainer.evaluate(in_seconds(rt, 20));
    REQUIRE(after);
    CHECK(after->loss < before->loss);
    CHECK(after->accuracy > 0.9);
    CHECK(trainer.stream_position() == 30 * 32);

    // A snapshot restores exactly, and the probe of it agrees with the evaluation, touching
    // nothing.
    auto snapshot = co_await trainer.snapshot(30, in_seconds(rt, 20));
    REQUIRE(snapshot);
    CHECK(snapshot->values.size() == trainer.facts().download_values());
    CHECK(snapshot->optimizer_metadata.get<wire::Msgpack::Array>() != nullptr);
    auto const kept = hash(trainer.parameters());
    std::vector<float> const zeros(snapshot->values.size(), 0.0f);
    REQUIRE(trainer.restore(zeros));
    auto probed = co_await trainer.probe(snapshot->values, in_seconds(rt, 20));
    REQUIRE(probed);
    CHECK(probed->loss == doctest::Approx(after->loss));
    CHECK(trainer.parameters()[0] == 0.0f);
    REQUIRE(trainer.restore(snapshot->values));
    CHECK(hash(trainer.parameters()) == kept);
    std::vector<float> bad = snapshot->values;
    bad[5] = std::numeric_limits<float>::quiet_NaN();
    CHECK(!trainer.restore(bad));
    CHECK(!trainer.load_averaged_state(std::vector<float>(3)));
    auto averaged = trainer.averaged_state();
    CHECK(averaged.size() == 2 * trainer.parameters().size() + trainer.extras().size());
    CHECK(trainer.load_averaged_state(averaged));
    CHECK(hash(trainer.parameters()) == kept);

    // Out as safetensors and in again.
    auto const path = d.file("model.safetensors");
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    std::vector<std::pair<std::string, std::string>> metadata;
    metadata.emplace_back("format", "pt");
    auto written =
        co_await trainer.export_safetensors(file.get(), std::move(metadata), in_seconds(rt, 20));
    REQUIRE(written);
    REQUIRE(trainer.restore(zeros));
    auto read = co_await trainer.import_safetensors(file.get(), in_seconds(rt, 20));
    REQUIRE(read);
    CHECK(hash(trainer.parameters()) == kept);

    auto predictions = co_await trainer.predictions(0, 4, in_seconds(rt, 20));
    REQUIRE(predictions);
    REQUIRE(predictions->size() == 4);
    CHECK(predictions->front().pixels.size() == 144);
    CHECK(predictions->front().probabilities.size() == 3);
    co_await trainer.close(in_seconds(rt, 5));
    CHECK(trainer.pid() == 0);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, ends with the same bits however often its process is killed") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    constexpr int kSteps = 24;
    std::uint64_t calm = 0;
    std::uint64_t stormy = 1;
    {
      auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
      REQUIRE(started);
      co_await train(rt, **started, kSteps, calm);
    }
    auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    bool stop = false;
    int kills = 0;
    Scope killers(rt);
    killers.spawn("kill", kill_sometimes(rt, trainer, 4, kills, stop));
    co_await train(rt, trainer, kSteps, stormy);
    stop = true;
    co_await killers.close();
    CHECK(kills > 0);
    CHECK(trainer.restarts() > 0);
    MESSAGE(kills << " kills, " << trainer.restarts() << " restarts");
    CHECK(calm == stormy);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, lets an idle process go, and goes on with the same bits") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    std::uint64_t kept = 0;
    std::uint64_t let_go = 1;
    {
      auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
      REQUIRE(started);
      co_await train(rt, **started, 4, kept);
    }
    auto options = d.options();
    options.idle_limit = std::chrono::milliseconds(300);
    auto started = co_await TrainerProcess::start(rt, std::move(options), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    co_await train(rt, trainer, 2, let_go);
    REQUIRE(trainer.pid() != 0);
    for (int i = 0; i < 100 && trainer.pid() != 0; ++i) {
      auto const slept = co_await rt.sleep_for(std::chrono::milliseconds(100));
      REQUIRE(slept);
    }
    CHECK(trainer.pid() == 0);
    std::uint64_t end = 2;
    co_await train_from(rt, trainer, 2, 4, end);
    CHECK(end == kept);
    CHECK(trainer.restarts() == 0);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, halves the micro-batch when its tensors do not fit") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto options = d.options();
    auto const at = options.config_json.find("\"micro_batch\": 16");
    options.config_json.replace(at, 17, "\"micro_batch\": 256");
    options.memory_limit = 1 << 20;
    auto started = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    auto batch = co_await trainer.accumulate(0, in_seconds(rt, 20));
    REQUIRE(batch);
    CHECK(batch->finite);
    CHECK(trainer.micro_batch() < 256);
    CHECK(batch->samples == trainer.micro_batch());
    // Another limit counts from the next call on, and is no death.
    auto const before = trainer.pid();
    trainer.set_memory_limit(options.memory_limit);
    CHECK(trainer.pid() == before);
    trainer.set_memory_limit(0);
    auto whole = co_await trainer.accumulate(0, in_seconds(rt, 60));
    REQUIRE(whole);
    CHECK(whole->samples == 256);
    CHECK(trainer.pid() != before);
    CHECK(trainer.restarts() == 0);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, the processor works for the share that is set, and not more") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto options = d.options();
    auto const at = options.config_json.find("\"micro_batch\": 16");
    options.config_json.replace(at, 17, "\"micro_batch\": 256");
    auto started = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    for (double const share : {1.0, 0.5, 0.2}) {
      trainer.set_duty(share);
      auto batch = co_await trainer.accumulate(0, in_seconds(rt, 20));
      REQUIRE(batch);
      auto const begin = rt.now();
      auto const used = trainer.cpu_time();
      while (to_seconds(rt.now() - begin) < 5) {
        batch = co_await trainer.accumulate(0, in_seconds(rt, 20));
        REQUIRE(batch);
      }
      auto const held = to_seconds(trainer.cpu_time() - used) / to_seconds(rt.now() - begin);
      MESSAGE("share " << share << ": " << held << " of one thread's time");
      // Less is what a machine that others use gives.
      CHECK(held < share + 0.05);
    }
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, undoes a batch whose loss is not finite") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    auto good = co_await trainer.accumulate(0, in_seconds(rt, 20));
    REQUIRE(good);
    auto const gradients = hash(trainer.gradients());
    auto const extras = hash(trainer.extras());
    auto const kept = trainer.parameters()[0];
    trainer.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
    auto bad = co_await trainer.accumulate(0, in_seconds(rt, 20));
    REQUIRE(bad);
    CHECK(!bad->finite);
    CHECK(hash(trainer.gradients()) == gradients);
    CHECK(hash(trainer.extras()) == extras);
    trainer.parameters()[0] = kept;
    auto again = co_await trainer.accumulate(0, in_seconds(rt, 20));
    REQUIRE(again);
    CHECK(again->finite);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE(
    "TrainerProcess, kills a trainer that does not answer by the deadline and goes on with "
    "another") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    ::kill(trainer.pid(), SIGSTOP);
    auto late = co_await trainer.accumulate(0, in_seconds(rt, 0.2));
    REQUIRE(!late);
    CHECK(late.error().code == Errc::timeout);
    CHECK(trainer.stream_position() == 0);
    CHECK(trainer.pid() == 0);
    auto next = co_await trainer.accumulate(0, in_seconds(rt, 30));
    REQUIRE(next);
    CHECK(trainer.restarts() == 1);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, a pause stops the deadline's clock") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto started = co_await TrainerProcess::start(rt, d.options(), in_seconds(rt, 50));
    REQUIRE(started);
    auto& trainer = **started;
    trainer.pause_now();
    auto const timer = rt.call_at(in_seconds(rt, 0.6), [&trainer] { trainer.resume(); });
    auto batch = co_await trainer.accumulate(0, in_seconds(rt, 0.5));
    rt.cancel(timer);
    CHECK(batch);
    CHECK(trainer.restarts() == 0);
  };
  test::run(runtime, work(runtime, data));
}

TEST_CASE("TrainerProcess, says what is wrong with a configuration, a file or a missing program") {
  Data const data;
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, Data const& d) -> Co<void> {
    auto options = d.options();
    options.config_json = R"({"model": {"depht": 8}})";
    auto wrong = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(!wrong);
    CHECK(wrong.error().code == Errc::invalid);
    CHECK(wrong.error().detail.find("depht") != std::string::npos);
    options = d.options();
    std::swap(options.train_files[0], options.train_files[1]);
    auto swapped = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(!swapped);
    CHECK(swapped.error().code == Errc::malformed);
    options = d.options();
    options.train_files[0] = d.file("nowhere");
    auto missing = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(!missing);
    CHECK(missing.error().code == Errc::not_found);
    options = d.options();
    options.executable = d.file("no-trainer");
    auto none = co_await TrainerProcess::start(rt, options, in_seconds(rt, 50));
    REQUIRE(!none);
    CHECK(none.error().code == Errc::closed);
    CHECK(none.error().detail.find("could not be executed") != std::string::npos);
  };
  test::run(runtime, work(runtime, data));
}

}  // namespace
}  // namespace waggle::worker
