// SPDX-License-Identifier: MIT
#include "core/device/gpu_power.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/device/detail/nvml.hpp"

namespace waggle::device {
namespace {

using detail::Nvml;

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
  };

  explicit State(char const* library) : name(library), nvml(library) {}

  bool begin() {
    if (!nvml.complete()) nvml = Nvml(name);  // installed meanwhile
    up = up || (nvml.complete() && nvml.init() == 0);
    return up;
  }

  void end() {
    if (up) nvml.shutdown();
    up = false;
  }

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

  void put_back() {
    if (!held) return;
    auto const was = *std::exchange(held, std::nullopt);
    unsigned now = 0;
    // Who set another one meanwhile has the last word.
    bool const ours = was.changed && nvml.power_limit(was.card, &now) == 0 && now == was.wanted;
    if (ours && nvml.set_power_limit(was.card, was.former) != 0)
      log::warning("device",
                   "the power limit of ",
                   nvml.name_of(was.card),
                   " could not be put back to ",
                   was.former / kMilli,
                   " W");
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
    auto const refused =
        cat("gpu_power_cap: ", nvml.name_of(card), " is not limited to ", wanted / kMilli, " W: ");
    if (nvml.power_limit(card, &former) != 0)
      return cat(refused, "the card has no power limit that could be set; set gpu_power_cap to 0");
    Held now{std::string(address), wanted, former, wanted < former, card};
    if (now.changed) {
      unsigned least = 0;
      unsigned most = 0;
      bool const told = nvml.power_range && nvml.power_range(card, &least, &most) == 0;
      if (told && (wanted < least || wanted > most))
        return cat(refused, allowed(nvml, card), "; set gpu_power_cap to one of these, or to 0");
      if (int const code = nvml.set_power_limit(card, wanted); code != 0)
        return cat(refused,
                   code == Nvml::kNoPermission ? std::string("only root may do that")
                                               : cat("its driver refused with code ", code),
                   " (",
                   allowed(nvml, card),
                   "); run Waggle as root, or run `nvidia-smi -pl ",
                   wanted / kMilli,
                   "` as root and set gpu_power_cap to 0");
    }
    held = std::move(now);
    return {};
  }

  char const* name;
  Nvml nvml;
  bool up = false;
  std::optional<Held> held;
};

GpuPowerCap::GpuPowerCap(char const* library) : state_(std::make_unique<State>(library)) {
}

GpuPowerCap::~GpuPowerCap() {
  (void)hold(0, {});
}

std::string GpuPowerCap::hold(std::uint64_t watts, std::string_view address) {
  auto& s = *state_;
  auto const wanted = static_cast<unsigned>(std::min(watts, kMostWatts)) * kMilli;
  if (s.held && s.held->wanted == wanted && s.held->address == address) return {};
  s.put_back();
  if (wanted == 0) {
    s.end();
    return {};
  }
  if (!s.begin())
    return cat(
        "gpu_power_cap of ",
        watts,
        " W is not held: NVIDIA's driver does not answer (",
        s.nvml.complete() ? "it is installed, but does not start" : cat(s.name, " is not there"),
        "); install it, or set gpu_power_cap to 0");
  auto trouble = s.set(wanted, address);
  if (!trouble.empty()) s.end();
  return trouble;
}

}  // namespace waggle::device
