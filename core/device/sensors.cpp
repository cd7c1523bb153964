// SPDX-License-Identifier: MIT
#include "core/device/sensors.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/aside.hpp"
#include "core/base/text.hpp"
#include "core/device/cpu_load.hpp"
#include "core/device/detail/power_note.hpp"
#include "core/device/detail/text_file.hpp"
#include "core/device/gpu_driver.hpp"
#include "core/device/gpu_power.hpp"
#include "core/device/inhibitors.hpp"
#include "core/device/system_bus.hpp"
#include "core/device/temperature.hpp"
#include "core/device/x11_idle.hpp"

namespace waggle::device {
namespace {

// How often each kind is asked.
struct Pace {
  Duration files, idle, bus, gpu;
};

// A volunteer who pulls the plug waits for the files so long at most.
constexpr Pace kAtWork{seconds(4), seconds(2), seconds(10), seconds(10)};
// Each a multiple of the shortest: one wake-up serves all.
constexpr Pace kCalm{seconds(10), seconds(10), seconds(30), seconds(30)};
constexpr Duration kLimit = std::chrono::seconds(5);
constexpr Duration kGpuPatience = std::chrono::seconds(5);
constexpr Duration kBusLimit = std::chrono::seconds(20);  // four questions of two seconds, logins

struct FileReadings {
  Power power;
  std::optional<double> cpu_all;
  std::optional<double> cpu_others;
  std::optional<double> celsius;
  std::optional<std::string> program;
};

// Between the caller and the thread that reads files.
struct SharedWishes {
  std::mutex mutex;
  SensorWishes wishes;       // guarded by mutex
  std::uint64_t number = 0;  // guarded by mutex: counts wishes

  SensorWishes get() {
    std::lock_guard const lock(mutex);
    return wishes;
  }

  std::pair<SensorWishes, std::uint64_t> numbered() {
    std::lock_guard const lock(mutex);
    return {wishes, number};
  }
};

// The files of /sys and /proc; lives in its thread.
struct FileReader {
  SensorRoots roots;
  std::shared_ptr<SharedWishes> shared;
  LoadMeter meter;

  FileReadings read() {
    FileReadings readings;
    auto const wishes = shared->get();
    readings.power = read_power(roots.sys);
    readings.celsius = read_temperature(roots.sys);
    std::vector<Process> processes;
    if (wishes.cpu_others || !wishes.programs.empty()) processes = read_processes(roots.proc);
    if (auto const times = parse_cpu_times(detail::read_small(roots.proc / "stat"))) {
      if (auto const load = meter.look(*times, processes)) {
        readings.cpu_all = load->all;
        if (!processes.empty()) readings.cpu_others = load->others;
      }
    }
    readings.program = running(wishes.programs, processes);
    return readings;
  }
};

bool set(char const* variable) {
  char const* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

struct BusAnswers {
  BusReadings readings;
  std::optional<std::string> inhibitor;
};

BusAnswers read_bus() {
  BusAnswers answers;
  answers.readings = read_system_bus();
  answers.inhibitor = keeps_screen_on(read_inhibitors());
  return answers;
}

struct GpuAnswers {
  std::vector<GpuReading> gpus;
  std::string power_trouble;
  std::uint64_t wish = 0;  ///< the number of the one that was followed
};

// The one at this place, which must be known.
GpuReading const* find_known(std::span<GpuReading const> gpus, std::string_view address) {
  return address.empty() ? nullptr : find_gpu(gpus, address);
}

// Reads the cards, and holds the power of the one that is wished; lives in its thread, at whose end
// the power is put back.
struct GpuReader {
  std::filesystem::path root;
  std::filesystem::path sys;
  std::shared_ptr<SharedWishes> shared;
  Nvidia nvidia;
  std::shared_ptr<GpuPowerCap> cap;

  GpuAnswers read() {
    auto const [wishes, number] = shared->numbered();
    GpuAnswers answers;
    answers.wish = number;
    if (nvidia_has_card(root)) answers.gpus = nvidia.read();
    auto amd = read_amd(sys);
    bool const none = answers.gpus.empty() && wishes.gpu.empty();
    auto const* const of_amd = none && !amd.empty() ? &amd.front() : find_known(amd, wishes.gpu);
    answers.power_trouble = cap->hold(of_amd == nullptr ? wishes.gpu_power_cap : 0, wishes.gpu);
    if (of_amd != nullptr && wishes.gpu_power_cap > 0)
      answers.power_trouble = cat("gpu_power_cap of ",
                                  wishes.gpu_power_cap,
                                  " W is not held: only NVIDIA's cards are limited, and ",
                                  of_amd->name,
                                  " is AMD's; set gpu_power_cap to 0");
    answers.gpus.insert(answers.gpus.end(),
                        std::make_move_iterator(amd.begin()),
                        std::make_move_iterator(amd.end()));
    return answers;
  }
};

}  // namespace

struct Sensors::State {
  explicit State(SensorRoots const& roots)
      : run(roots.sys.parent_path() / "run"),
        shared(std::make_shared<SharedWishes>()),
        files(
            "sense files",
            [reader = FileReader{roots, shared, {}}]() mutable { return reader.read(); },
            kAtWork.files,
            kLimit),
        bus(
            "sense bus", [] { return read_bus(); }, kAtWork.bus, kBusLimit),
        gpu(
            "sense gpu",
            [reader = GpuReader{roots.sys.parent_path(),
                                roots.sys,
                                shared,
                                Nvidia(roots.nvml),
                                std::make_shared<GpuPowerCap>(roots.nvml, run)}]() mutable {
              return reader.read();
            },
            kAtWork.gpu,
            kLimit),
        capped(detail::has_notes(run)) {}

  [[nodiscard]] Pace const& pace() const { return calm ? kCalm : kAtWork; }

  void set_pace() {
    files.every(pace().files);
    bus.every(pace().bus);
    gpu.every(capped ? kAtWork.gpu : pace().gpu);
    if (x11) x11->every(pace().idle);
  }

  std::filesystem::path run;
  std::shared_ptr<SharedWishes> shared;
  Aside<FileReadings> files;
  Aside<BusAnswers> bus;
  Aside<GpuAnswers> gpu;
  /// A power cap was wished, or left by a process that was killed, and perhaps is to be put back.
  bool capped;
  bool calm = false;
  std::uint64_t wish = 0;                           ///< the newest one's number
  bool wants_cap = false;                           ///< the newest one
  std::optional<Aside<std::optional<double>>> x11;  ///< only once somebody asks
  std::optional<TimePoint> inhibited_at;            ///< last seen so
  std::optional<TimePoint> first;                   ///< poll
  bool power_known = false;                         ///< whether it is on battery
};

Sensors::Sensors(SensorRoots roots) : state_(std::make_unique<State>(roots)) {
}

Sensors::~Sensors() = default;

void Sensors::wish(SensorWishes wishes) {
  if (wishes.idle && !state_->x11 && set("DISPLAY"))
    state_->x11.emplace("sense idle", x11_idle_seconds, state_->pace().idle, kLimit);
  if (!wishes.idle) state_->x11.reset();
  state_->wants_cap = wishes.gpu_power_cap > 0;
  state_->capped = state_->capped || state_->wants_cap;
  state_->set_pace();
  // A driver may take seconds to put back what was there before.
  if (state_->capped) state_->gpu.patience(kGpuPatience);
  std::lock_guard const lock(state_->shared->mutex);
  state_->wish = ++state_->shared->number;
  state_->shared->wishes = std::move(wishes);
}

void Sensors::calm(bool on) {
  state_->calm = on;
  state_->set_pace();
}

Readings Sensors::poll(TimePoint now, double unix_time) {
  auto& s = *state_;
  Readings readings;
  if (!s.first) s.first = now;
  if (auto files = s.files.poll(now)) {
    s.power_known = true;
    readings.power = files->power;
    readings.cpu_all = files->cpu_all;
    readings.cpu_others = files->cpu_others;
    readings.celsius = files->celsius;
    readings.program = std::move(files->program);
  }
  auto const answers = s.bus.poll(now).value_or(BusAnswers{});
  auto const& bus = answers.readings;
  readings.metered = bus.metered;
  readings.inhibitor = answers.inhibitor;
  if (readings.inhibitor) s.inhibited_at = now;
  std::optional<double> x11;
  if (s.x11) x11 = s.x11->poll(now).value_or(std::nullopt);
  readings.idle_seconds = idle_seconds(x11, bus.session, set("WAYLAND_DISPLAY"), unix_time);
  // Whoever watched a film to its end was there until then.
  if (readings.idle_seconds && s.inhibited_at)
    readings.idle_seconds = std::min(*readings.idle_seconds, to_seconds(now - *s.inhibited_at));
  // Asking a sleeping card wakes it, which a battery pays for; a cap is put back all the same.
  s.power_known = s.power_known || now - *s.first > kLimit;  // files that hang hide no card
  if ((s.power_known && !readings.power.on_battery) || s.capped)
    if (auto told = s.gpu.poll(now)) {
      if (!s.wants_cap && told->wish == s.wish) {
        s.capped = false;
        s.set_pace();
      }
      readings.gpus = std::move(told->gpus);
      readings.gpu_power_trouble = std::move(told->power_trouble);
    }
  return readings;
}

}  // namespace waggle::device
