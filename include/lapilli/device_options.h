#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lapilli {

/// What a user or a test takes away from a device: no feature can be added and no limit raised.
struct DeviceRestrictions {
  bool no_storage_8bit = false, no_storage_16bit = false;
  bool no_float16 = false, no_int8 = false, no_int16 = false, no_int64 = false, no_float64 = false;
  bool no_subgroup_size_control = false;
  bool no_cooperative_matrix = false;
  bool no_host_visible_device_memory = false;  ///< inputs and weights are staged, outputs copied
  std::optional<std::uint32_t> max_groups;     ///< along each axis
  std::optional<std::uint32_t> max_group_invocations;
  std::optional<std::uint32_t> max_shared_memory;
  std::optional<std::uint32_t> max_push_constants;
  std::optional<std::uint64_t> max_storage_range;
  std::optional<std::uint64_t> max_allocation;
};

struct DeviceOptions {
  /// Which device: empty for the best one, an index such as "1", a UUID (32 hexadecimal digits, dashes allowed), or a
  /// part of the name in any case, such as "nvidia" or "llvmpipe".
  std::string selector;

  /// Turns on the validation layer with synchronization validation; Device::validation_messages has what it says.
  bool validation = false;

  /// Keeps compiled pipelines in a file between processes.
  bool pipeline_cache = true;
  /// Where that file lies; empty for $XDG_CACHE_HOME/lapilli or ~/.cache/lapilli.
  std::filesystem::path pipeline_cache_folder;

  /// The most bytes that may be in use at once (MemoryUse::in_use); 0 for no bound. What goes past it is an Error
  /// (out_of_memory), after a context has given up the plans that it used least lately.
  std::uint64_t memory_budget = 0;

  DeviceRestrictions restrictions;

  /// About how long the device may work on one submission, for drivers that end what takes seconds, and for those who
  /// share the device; 0 for no bound. Longer work is cut into several. Times are estimated, not measured.
  std::chrono::milliseconds longest_submit{0};

  /// File name of the Vulkan loader; empty for the system's own.
  std::string loader;
};

}  // namespace lapilli
