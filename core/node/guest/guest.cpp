// SPDX-License-Identifier: MIT
#include "core/node/guest/guest.hpp"

#include <ctime>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/device/machine.hpp"
#include "core/node/settings/settings.hpp"

namespace waggle::node {
namespace {

constexpr Duration kLook = std::chrono::seconds(1);
// While nothing computes and nobody looks: each look wakes a processor that sleeps.
constexpr Duration kCalmLook = std::chrono::seconds(10);
// Who looks again so soon watches us; a window out of sight does not.
constexpr Duration kWatchedFor = std::chrono::seconds(2);
constexpr Duration kFileEvery = std::chrono::seconds(3);
constexpr Duration kMachineEvery = std::chrono::seconds(5);
// So much of a day's count a power cut takes.
constexpr Duration kTrafficEvery = std::chrono::seconds(30);
constexpr std::string_view kTrafficKey = "traffic_today";
// So long none can tell whether somebody is there: none will.
constexpr Duration kNoIdleTime = std::chrono::seconds(30);

device::LocalTime local_time(double unix_time) {
  auto const whole = static_cast<std::time_t>(unix_time);
  std::tm parts{};
  if (::localtime_r(&whole, &parts) == nullptr) return {};
  return {(parts.tm_wday + 6) % 7, 60 * parts.tm_hour + parts.tm_min};
}

// What the file says, once as the node needs it and once as a person wrote it.
struct FileLook {
  std::optional<std::filesystem::file_time_type> time;
  std::optional<Config> config;  ///< only if the time is another
  Literals literals;
};

FileLook look_at(std::filesystem::path const& folder,
                 std::optional<std::filesystem::file_time_type> last) {
  FileLook look;
  std::error_code ec;
  auto const time = std::filesystem::last_write_time(folder / "waggle.toml", ec);
  if (!ec) look.time = time;
  if (look.time == last) return look;
  look.config = read_config(folder);
  if (auto literals = read_literals(folder)) look.literals = *std::move(literals);
  return look;
}

// Whether it is time for what is done each `period`; if so, the next time is later.
bool due(TimePoint& at, TimePoint now, Duration period) {
  if (now < at) return false;
  at = now + period;
  return true;
}

GpuView view_of(device::GpuReading const& gpu) {
  return {gpu.name, gpu.busy, gpu.memory_used, gpu.memory_total, gpu.celsius, gpu.watts};
}

}  // namespace

Guest::Guest(Services& services, std::function<void()> changed)
    : services_(services),
      changed_(std::move(changed)),
      sensors_(services.options().sensors),
      watts_(services.options().sensors.sys),
      policy_(services.options().guest),
      threads_wanted_(services.options().threads_wanted),
      cpu_share_(services.options().cpu_share),
      soon_(services.runtime()),
      scope_(services.runtime()) {
  auto const look = look_at(services.options().data_dir, std::nullopt);
  file_time_ = look.time;
  settings_ = list_settings(look.literals, services.options().flags);
  use(services.options().limits);
  use(services.options().guest);
  scope_.spawn("guest", watch());
}

Guest::~Guest() = default;

Co<void> Guest::close() {
  awake_.want(false, services_.runtime().now());
  co_await scope_.close();
  keep_traffic();
}

device::Effort Guest::effort() const noexcept {
  auto effort = device::effort(
      policy_.settings().power, device::cores(), static_cast<unsigned>(threads_wanted_));
  effort.duty *= cpu_share_ / 100.0;
  effort.gpu_duty *= limits_.gpu_duty / 100.0;
  return effort;
}

void Guest::use(device::GuestSettings settings) {
  policy_.set(std::move(settings));
  wish();
}

void Guest::wish() {
  auto const& settings = policy_.settings();
  device::SensorWishes wishes;
  wishes.programs = settings.programs;
  wishes.cpu_others = settings.cpu_load > 0;
  wishes.idle = settings.wanted_idle_minutes(on_gpu_) > 0;
  if (computes_ && on_gpu_) {
    wishes.gpu_power_cap = limits_.gpu_power_cap;
    wishes.gpu = gpu_;
  }
  sensors_.wish(std::move(wishes));
}

Co<void> Guest::follow_file() {
  auto look = [folder = services_.options().data_dir, last = file_time_] {
    return look_at(folder, last);
  };
  auto const seen = co_await on(services_.disk(), services_.runtime(), std::move(look));
  file_time_ = seen.time;
  if (!seen.config) co_return;
  if (!seen.config->trouble.empty()) {
    services_.notice(cat(seen.config->trouble, "; the rules stay as they were"));
    co_return;
  }
  settings_ = list_settings(seen.literals, services_.options().flags);
  use(*seen.config);
}

bool Guest::is_flag(std::string_view setting) const {
  return services_.options().flags.contains(setting);
}

void Guest::use(Config const& config) {
  auto settings = config.guest;
  if (is_flag("power")) settings.power = services_.options().guest.power;
  auto const before = effort();
  cpu_share_ = config.cpu_share;
  if (!is_flag("threads")) threads_wanted_ = config.threads.value_or(0);
  services_.limit_disk(config.disk_gib);
  bool const other_memory = config.limits.max_memory != limits_.max_memory ||
                            config.limits.max_gpu_memory != limits_.max_gpu_memory;
  use(config.limits);
  use(std::move(settings));
  if (other_memory || effort() != before) changed_();
}

void Guest::use(Limits const& limits) {
  limits_ = limits;
  services_.limit_rates(limits.max_download, limits.max_upload);
}

void Guest::computes(bool now, bool on_gpu, std::string gpu) {
  if (now != computes_ || on_gpu != on_gpu_ || gpu != gpu_) {
    computes_ = now;
    on_gpu_ = on_gpu;
    gpu_ = std::move(gpu);
    wish();
    look_soon();
  }
  bool const wanted = now && limits_.keep_awake && !readings_.power.on_battery;
  awake_.want(wanted, services_.runtime().now());
  if (!wanted) return;
  auto trouble = awake_.trouble();
  if (trouble == awake_trouble_) return;
  awake_trouble_ = std::move(trouble);
  if (!awake_trouble_.empty())
    services_.notice(cat("keep_awake is set, but this computer may fall asleep: ", awake_trouble_));
}

void Guest::look_at_gpu() {
  bool const ours = computes_ && on_gpu_;
  auto const* const card = ours ? device::find_gpu(readings_.gpus, gpu_) : nullptr;
  gpu_energy_.look(card == nullptr ? std::nullopt : card->watts, services_.runtime().now());
  auto const& trouble = readings_.gpu_power_trouble;
  if (trouble.empty() || trouble == gpu_power_trouble_) return;
  gpu_power_trouble_ = trouble;
  services_.notice(trouble);
}

Co<void> Guest::recall_traffic() {
  auto read = [&store = services_.store()] { return store.setting(kTrafficKey); };
  auto const kept = co_await on(services_.disk(), services_.runtime(), std::move(read));
  if (!kept || !*kept) co_return;
  traffic_.restore(**kept, services_.runtime().unix_time());
}

void Guest::keep_traffic() {
  auto text = traffic_.text();
  if (!text || text == traffic_kept_) return;
  traffic_kept_ = text;
  services_.disk().post([&store = services_.store(), text = *std::move(text)] {
    if (auto const kept = store.put_setting(kTrafficKey, text); !kept)
      log::warning("store", "the day's traffic was not kept: ", kept.error().detail);
  });
}

void Guest::look_at_file(std::function<void()> followed) {
  file_soon_.push_back(std::move(followed));
  look_soon();
}

void Guest::looked_at() {
  auto const now = services_.runtime().now();
  bool const again = looked_at_ && now < *looked_at_ + kWatchedFor;
  looked_at_ = now;
  if (!again) return;
  bool const news = pause() > kLook;
  watched_until_ = now + kWatchedFor;
  if (news) look_soon();
}

void Guest::look_soon() noexcept {
  look_soon_ = true;
  soon_.notify_all();
}

Duration Guest::pause() const {
  bool const watched = services_.runtime().now() < watched_until_;
  return computes_ || watched ? kLook : kCalmLook;
}

void Guest::judge() {
  if (services_.options().always) return;
  auto const& runtime = services_.runtime();
  auto verdict = policy_.decide(readings_, local_time(runtime.unix_time()), runtime.now());
  if (verdict == verdict_) return;
  verdict_ = std::move(verdict);
  changed_();
}

void Guest::look_at_machine() {
  machine_.cores = device::cores();
  if (auto const memory = device::memory()) {
    machine_.memory_total = memory->total;
    machine_.memory_available = memory->available;
  }
  if (auto const disk = device::disk_available(services_.options().data_dir))
    machine_.disk_available = *disk;
}

Co<void> Guest::watch() {
  auto& runtime = services_.runtime();
  co_await recall_traffic();
  TimePoint file_at{}, machine_at{}, traffic_at{};
  watched_until_ = runtime.now() + kWatchedFor;  // the sensors' first answers are waited for
  for (;;) {
    traffic_.look(services_.socket_bytes(), runtime.unix_time());
    if (due(traffic_at, runtime.now(), kTrafficEvery)) keep_traffic();
    if (due(machine_at, runtime.now(), kMachineEvery)) look_at_machine();
    auto const asked = std::exchange(file_soon_, {});
    if (due(file_at, runtime.now(), kFileEvery) || !asked.empty()) co_await follow_file();
    for (auto const& followed : asked)
      if (followed) followed();
    sensors_.calm(pause() > kLook);
    readings_ = sensors_.poll(runtime.now(), runtime.unix_time());
    readings_.traffic_today = traffic_.bytes();
    readings_.on_gpu = on_gpu_;
    std::optional<double> busy;
    if (readings_.cpu_all) busy = *readings_.cpu_all * device::cores();
    watts_.look(busy, runtime.now());
    services_.set_watts_per_core(watts_.per_busy_core());
    look_at_gpu();
    mind_blindness();
    judge();
    if (!co_await rest()) co_return;
  }
}

void Guest::mind_blindness() {
  auto const now = services_.runtime().now();
  bool const blind = policy_.settings().idle_minutes > 0 && !readings_.idle_seconds;
  if (!blind) blind_since_.reset();
  if (!blind || !blind_since_) {
    if (blind) blind_since_ = now;
    blindness_said_ = false;
    return;
  }
  if (blindness_said_ || now < *blind_since_ + kNoIdleTime) return;
  blindness_said_ = true;
  services_.notice(
      "[guest] idle_minutes is set, but neither an X server nor logind tells how long this "
      "computer was left alone; it counts as left alone");
}

// Until the next look; false once cancelled.
Co<bool> Guest::rest() {
  auto const from = services_.runtime().now();
  while (!look_soon_ && services_.runtime().now() < from + pause()) {
    auto const woken = co_await soon_.wait(from + pause());
    if (!woken && woken.error().code == Errc::cancelled) co_return false;
  }
  look_soon_ = false;
  co_return true;
}

void Guest::person_runs() {
  policy_.run_anyway();
  judge();
  look_soon();
}

void Guest::person_rests() {
  policy_.forget_override();
  judge();
}

GuestView Guest::view() const {
  auto const effort_now = effort();
  GuestView view;
  view.resting = !verdict_.run;
  view.reason = verdict_.reason;
  view.causes = verdict_.causes;
  view.overridden = verdict_.overridden;
  view.on_gpu = on_gpu_;
  view.followed = !services_.options().always;
  view.power = device::name(policy_.settings().power);
  view.threads = effort_now.threads;
  view.duty = effort_now.duty;
  return view;
}

MachineView Guest::machine() const {
  MachineView view = machine_;
  view.watts_per_core = watts_.per_busy_core();
  view.watts_measured = watts_.measured();
  view.cpu = readings_.cpu_all;
  view.cpu_others = readings_.cpu_others;
  view.celsius = readings_.celsius;
  view.has_battery = readings_.power.has_battery;
  view.on_battery = readings_.power.on_battery;
  view.battery_percent = readings_.power.percent;
  view.idle_seconds = readings_.idle_seconds;
  view.metered = readings_.metered;
  view.traffic_today = traffic_.bytes();
  view.kept_awake = awake_.held();
  for (auto const& gpu : readings_.gpus) view.gpus.push_back(view_of(gpu));
  return view;
}

}  // namespace waggle::node
