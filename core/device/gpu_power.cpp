// SPDX-License-Identifier: MIT
#include "core/device/gpu_power.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/device/detail/nvml.hpp"
#include "core/device/detail/power_note.hpp"

namespace waggle::device {
namespace {

using detail::LoweredLimit;
using detail::Nvml;
using detail::PowerNote;

constexpr unsigned kMilli = 1000;
constexpr std::uint64_t kMostWatts = 100'000;

// "limits from 100 to 450 W", or that nobody knows.
std::string allowed(Nvml const& nvml, Nvml::Device* card) {
  unsigned least = 0;
  unsigned most = 0;
  if (!nvml.power_range || nvml.power_range(card, &least, &most) != 0)
    return "its driver does not tell which limits it allows";
  return cat("its driver allows ", least / kMilli, " to ", most / kMilli, " W");
}

}  // namespace

struct GpuPowerCap::State {
  /// What was done to a card.
  struct Held {
    std::string address;  // as it was asked for
    unsigned wanted = 0;  // milliwatts
    unsigned former = 0;
    bool changed = false;  // former was higher, and is to be put back
    Nvml::Device* card = nullptr;
    PowerNote note;
  };

  State(char const* library, std::filesystem::path folder)
      : run(std::move(folder)), driver(library) {}

  Nvml::Device* find(std::string_view address) const {
    unsigned count = 0;
    if (nvml.count(&count) != 0) return nullptr;
    count = std::min(count, Nvml::kMaxGpus);
    for (unsigned i = 0; i < count; ++i) {
      Nvml::Device* card = nullptr;
      if (nvml.handle(i, &card) != 0) continue;
      if (address.empty() ? count == 1 : nvml.address_of(card) == address) return card;
    }
    return nullptr;
  }

  // Before anything else is done: what a process that was killed left behind.
  void recover() {
    if (std::exchange(recovered, true)) return;
    for (auto& note : detail::left_notes(run)) {
      auto const limit = note.read();
      if (limit && !driver.begin()) continue;  // another start may find a driver that answers
      if (limit)
        if (auto* const card = find(note.address())) put_back(card, *limit);
      note.remove();
    }
  }

  void put_back(Nvml::Device* card, LoweredLimit const& limit) const {
    unsigned now = 0;
    // Who set another one meanwhile has the last word.
    bool const ours = nvml.power_limit && nvml.set_power_limit &&
                      nvml.power_limit(card, &now) == 0 && now == limit.wanted;
    if (ours && nvml.set_power_limit(card, limit.former) != 0)
      log::warning("device",
                   "the power limit of ",
                   nvml.name_of(card),
                   " could not be put back to ",
                   limit.former / kMilli,
                   " W");
  }

  void put_back() {
    if (!held) return;
    auto was = *std::exchange(held, std::nullopt);
    if (!was.changed) return;
    put_back(was.card, {was.wanted, was.former});
    was.note.remove();
  }

  // Before the limit is set, so that no end comes between. Whether it stands there.
  bool write(Held& now) const {
    if (!now.note) now.note = PowerNote::create(run, nvml.address_of(now.card));
    return now.note.write({now.wanted, now.former});
  }

  // Of one that was held: somebody may have raised it, or it was lower at first.
  std::string look_again() {
    unsigned now = 0;
    if (nvml.power_limit(held->card, &now) != 0)
      return cat("gpu_power_cap of ",
                 held->wanted / kMilli,
                 " W is not held: ",
                 "NVIDIA's driver does not answer (it no longer tells the card's limit); install "
                 "it, or set gpu_power_cap to 0");
    if (now <= held->wanted) return {};
    auto again = *std::exchange(held, std::nullopt);
    again.former = now;
    return lower(std::move(again));
  }

  std::string set(unsigned wanted, std::string_view address) {
    auto* const card = find(address);
    if (card == nullptr)
      return cat("gpu_power_cap of ",
                 wanted / kMilli,
                 " W is not held: NVIDIA's driver has no card ",
                 address.empty() ? std::string("that is the only one") : cat("at ", address),
                 "; set gpu_power_cap to 0");
    if (!nvml.power_limit || !nvml.set_power_limit)
      return cat("gpu_power_cap of ",
                 wanted / kMilli,
                 " W is not held: this version of NVIDIA's driver limits no power; install a newer "
                 "one, or set gpu_power_cap to 0");
    unsigned former = 0;
    if (nvml.power_limit(card, &former) != 0)
      return cat(refused(card, wanted),
                 "the card has no power limit that could be set; set gpu_power_cap to 0");
    Held now{std::string(address), wanted, former, false, card, {}};
    if (wanted < former) return lower(std::move(now));
    held = std::move(now);
    return {};
  }

  std::string refused(Nvml::Device* card, unsigned wanted) const {
    return cat(
        "gpu_power_cap: ", nvml.name_of(card), " is not limited to ", wanted / kMilli, " W: ");
  }

  // From `former` to `wanted`.
  std::string lower(Held now) {
    unsigned least = 0;
    unsigned most = 0;
    bool const told = nvml.power_range && nvml.power_range(now.card, &least, &most) == 0;
    if (told && (now.wanted < least || now.wanted > most)) {
      now.note.remove();
      return cat(refused(now.card, now.wanted),
                 allowed(nvml, now.card),
                 "; set gpu_power_cap to one of these, or to 0");
    }
    bool const noted = write(now);
    if (int const code = nvml.set_power_limit(now.card, now.wanted); code != 0) {
      now.note.remove();
      return cat(refused(now.card, now.wanted),
                 code == Nvml::kNoPermission ? std::string("only root may do that")
                                             : cat("its driver refused with code ", code),
                 " (",
                 allowed(nvml, now.card),
                 "); run `nvidia-smi -pl ",
                 now.wanted / kMilli,
                 "` as root and set gpu_power_cap to 0");
    }
    if (!noted)
      log::warning("device",
                   now.note.file().string(),
                   " is not written: the power limit stays if this process is killed");
    now.changed = true;
    held = std::move(now);
    return {};
  }

  std::filesystem::path run;
  detail::NvmlDriver driver;
  Nvml const& nvml = driver.nvml();
  bool recovered = false;
  std::optional<Held> held;
};

GpuPowerCap::GpuPowerCap(char const* library, std::filesystem::path run)
    : state_(std::make_unique<State>(library, std::move(run))) {
}

GpuPowerCap::~GpuPowerCap() {
  state_->put_back();
  state_->driver.end();
}

std::string GpuPowerCap::hold(std::uint64_t watts, std::string_view address) {
  auto& s = *state_;
  auto const wanted = static_cast<unsigned>(std::min(watts, kMostWatts)) * kMilli;
  s.recover();
  if (s.held && s.held->wanted == wanted && s.held->address == address) {
    auto trouble = s.look_again();
    if (!s.held) s.driver.end();
    return trouble;
  }
  s.put_back();
  if (wanted == 0) {
    s.driver.end();
    return {};
  }
  if (!s.driver.begin())
    return cat("gpu_power_cap of ",
               watts,
               " W is not held: NVIDIA's driver does not answer (",
               s.driver.loaded() ? "it is installed, but does not start"
                                 : cat(s.driver.library(), " is not there"),
               "); install it, or set gpu_power_cap to 0");
  auto trouble = s.set(wanted, address);
  if (!trouble.empty()) s.driver.end();
  return trouble;
}

}  // namespace waggle::device
