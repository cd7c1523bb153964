// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/base/text.hpp"
#include "core/device/detail/text_file.hpp"
#include "core/device/gpu.hpp"
#include "core/device/temperature.hpp"

namespace waggle::device {
namespace {

constexpr std::size_t kMaxCards = 64;
constexpr std::size_t kMaxSensors = 16;
constexpr char kAmd[] = "0x1002";
constexpr std::int64_t kPercent = 100;
constexpr double kMicro = 1e-6;

std::optional<std::uint64_t> count(std::filesystem::path const& file) {
  auto const value = detail::whole_number(detail::read_small(file));
  if (!value || *value < 0) return {};
  return static_cast<std::uint64_t>(*value);
}

GpuReading read_one(std::filesystem::path const& device, std::string const& card) {
  GpuReading gpu;
  gpu.name = detail::read_small(device / "product_name");
  if (gpu.name.empty()) gpu.name = cat("AMD GPU (", card, ")");
  // "PCI_SLOT_NAME=0000:03:00.0", one of some lines.
  constexpr std::string_view kSlot = "PCI_SLOT_NAME=";
  auto const facts = detail::read_small(device / "uevent");
  if (auto const at = facts.find(kSlot); at != std::string::npos) {
    auto const begin = at + kSlot.size();
    gpu.address = facts.substr(begin, facts.find('\n', begin) - begin);
  }
  if (auto const busy = count(device / "gpu_busy_percent"); busy && *busy <= kPercent)
    gpu.busy = static_cast<double>(*busy) / kPercent;
  gpu.memory_used = count(device / "mem_info_vram_used");
  gpu.memory_total = count(device / "mem_info_vram_total");
  for (auto const& name : detail::names_in(device / "hwmon", kMaxSensors)) {
    auto const chip = device / "hwmon" / name;
    if (!gpu.celsius) gpu.celsius = parse_celsius(detail::read_small(chip / "temp1_input"));
    // Newer chips tell the moment's power, older ones its mean.
    for (char const* const file : {"power1_average", "power1_input"})
      if (auto const microwatts = count(chip / file); microwatts && !gpu.watts)
        gpu.watts = static_cast<double>(*microwatts) * kMicro;
  }
  return gpu;
}

}  // namespace

GpuReading const* find_gpu(std::span<GpuReading const> gpus, std::string_view address) {
  if (address.empty()) return gpus.size() == 1 ? gpus.data() : nullptr;
  auto const at = std::ranges::find(gpus, address, &GpuReading::address);
  return at == gpus.end() ? nullptr : &*at;
}

std::vector<GpuReading> read_amd(std::filesystem::path const& sys) {
  std::vector<GpuReading> gpus;
  auto const cards = sys / "class/drm";
  for (auto const& card : detail::names_in(cards, kMaxCards)) {
    // card0, not card0-HDMI-A-1, which is a plug of it.
    if (!card.starts_with("card") || card.find('-') != std::string::npos) continue;
    auto const device = cards / card / "device";
    if (detail::read_small(device / "vendor") == kAmd) gpus.push_back(read_one(device, card));
  }
  return gpus;
}

}  // namespace waggle::device
