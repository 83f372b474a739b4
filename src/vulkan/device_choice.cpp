#include "vulkan/device_choice.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <format>
#include <optional>

#include "base/failure.h"
#include "vulkan/device_plan.h"

namespace lapilli {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string list_text(std::span<const DeviceSnapshot> devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += std::format("\n  {}: {} ({}, Vulkan {})", i, devices[i].name, to_string(devices[i].type),
                        version_text(devices[i].api_version));
  }
  return text;
}

std::optional<std::size_t> as_index(std::string_view selector) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), index);
  const bool whole = error == std::errc() && end == selector.data() + selector.size();
  return whole && selector.size() < 10 ? std::optional(index) : std::nullopt;
}

std::optional<std::size_t> find_uuid(std::span<const DeviceSnapshot> devices, std::string_view selector) {
  std::string uuid = lower(selector);
  std::erase(uuid, '-');
  if (uuid.size() != 32) return std::nullopt;
  const auto found = std::ranges::find(devices, uuid, &DeviceSnapshot::device_uuid);
  return found == devices.end() ? std::nullopt : std::optional<std::size_t>(found - devices.begin());
}

std::optional<std::size_t> find_name(std::span<const DeviceSnapshot> devices, std::string_view selector) {
  const std::string wanted = lower(selector);
  const auto found =
      std::ranges::find_if(devices, [&](const auto& device) { return lower(device.name).contains(wanted); });
  return found == devices.end() ? std::nullopt : std::optional<std::size_t>(found - devices.begin());
}

int rank(DeviceType type) {
  switch (type) {
    case DeviceType::discrete_gpu: return 0;
    case DeviceType::integrated_gpu: return 1;
    case DeviceType::virtual_gpu: return 2;
    case DeviceType::other: return 3;
    case DeviceType::cpu: return 4;
  }
  return 5;
}

std::uint64_t local_memory(const DeviceSnapshot& device) {
  std::uint64_t total = 0;
  for (const MemoryHeap& heap : device.memory_heaps) total += heap.device_local ? heap.size : 0;
  return total;
}

bool better(const DeviceSnapshot& a, const DeviceSnapshot& b) {
  return rank(a.type) != rank(b.type) ? rank(a.type) < rank(b.type) : local_memory(a) > local_memory(b);
}

DeviceChoice choose_best(std::span<const DeviceSnapshot> devices, const DeviceOptions& options) {
  std::optional<std::size_t> best;
  std::string refused;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    try {
      (void)make_device_plan(devices[i], options.restrictions);
    } catch (const Error& error) {
      refused += std::format("\n  {}", error.what());
      continue;
    }
    if (!best || better(devices[i], devices[*best])) best = i;
  }
  if (!best) fail(ErrorCode::no_device, "no Vulkan device of this machine can be used:{}", refused);
  DeviceChoice choice{*best, {}};
  if (devices[*best].type == DeviceType::cpu) {
    choice.notice = std::format("no GPU with Vulkan was found: running on the CPU with {}, which is slow{}{}",
                                devices[*best].name, refused.empty() ? "" : "; not usable:", refused);
  }
  return choice;
}

}  // namespace

DeviceChoice choose_device(std::span<const DeviceSnapshot> devices, const DeviceOptions& options) {
  if (devices.empty()) {
    fail(ErrorCode::no_device,
         "Vulkan is installed, but no driver offers a device; install the driver of the GPU, or "
         "mesa-vulkan-drivers (Debian) to run on the CPU");
  }
  if (options.selector.empty()) return choose_best(devices, options);
  std::optional<std::size_t> index = as_index(options.selector);
  if (index && *index >= devices.size()) index = std::nullopt;
  if (!index) index = find_uuid(devices, options.selector);
  if (!index) index = find_name(devices, options.selector);
  if (!index)
    fail(ErrorCode::no_device, "no device matches \"{}\"; there are:{}", options.selector, list_text(devices));
  return {*index, {}};
}

}  // namespace lapilli
