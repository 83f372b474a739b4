#include "vulkan/device_snapshot.h"

#include <algorithm>
#include <format>
#include <nlohmann/json.hpp>

#include "base/failure.h"

namespace lapilli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> type_names{"other", "integrated_gpu", "discrete_gpu", "virtual_gpu", "cpu"};

// One list of the fields of each struct serves both directions.
template <class Archive>
void describe(Archive& archive, QueueFamily& family) {
  archive("queues", family.queues);
  archive("graphics", family.graphics);
  archive("compute", family.compute);
  archive("transfer", family.transfer);
  archive("timestamp_bits", family.timestamp_bits);
}

template <class Archive>
void describe(Archive& archive, MemoryHeap& heap) {
  archive("size", heap.size);
  archive("device_local", heap.device_local);
}

template <class Archive>
void describe(Archive& archive, MemoryType& type) {
  archive("heap", type.heap);
  archive("device_local", type.device_local);
  archive("host_visible", type.host_visible);
  archive("host_coherent", type.host_coherent);
  archive("host_cached", type.host_cached);
}

template <class Archive>
void describe(Archive& archive, CooperativeMatrix& matrix) {
  archive("m", matrix.m);
  archive("n", matrix.n);
  archive("k", matrix.k);
  archive("a", matrix.a);
  archive("b", matrix.b);
  archive("c", matrix.c);
  archive("result", matrix.result);
  archive("saturating", matrix.saturating);
  archive("subgroup_scope", matrix.subgroup_scope);
}

template <class Archive>
void describe(Archive& archive, DeviceLimits& limits) {
  archive("max_groups", limits.max_groups);
  archive("max_group_size", limits.max_group_size);
  archive("max_group_invocations", limits.max_group_invocations);
  archive("max_shared_memory", limits.max_shared_memory);
  archive("max_push_constants", limits.max_push_constants);
  archive("max_storage_buffers_per_stage", limits.max_storage_buffers_per_stage);
  archive("max_storage_buffers_per_set", limits.max_storage_buffers_per_set);
  archive("max_resources_per_stage", limits.max_resources_per_stage);
  archive("max_storage_range", limits.max_storage_range);
  archive("max_uniform_range", limits.max_uniform_range);
  archive("max_allocation", limits.max_allocation);
  archive("max_buffer_size", limits.max_buffer_size);
  archive("storage_alignment", limits.storage_alignment);
  archive("uniform_alignment", limits.uniform_alignment);
  archive("timestamp_period", limits.timestamp_period);
}

template <class Archive>
void describe(Archive& archive, SubgroupProperties& subgroup) {
  archive("size", subgroup.size);
  archive("min_size", subgroup.min_size);
  archive("max_size", subgroup.max_size);
  archive("max_per_group", subgroup.max_per_group);
  archive("required_size_in_compute", subgroup.required_size_in_compute);
  archive("operations", subgroup.operations);
}

template <class Archive>
void describe(Archive& archive, DeviceSnapshot& snapshot) {
  archive("source", snapshot.source);
  archive("name", snapshot.name);
  archive("type", snapshot.type);
  archive("vendor_id", snapshot.vendor_id);
  archive("device_id", snapshot.device_id);
  archive("api_version", snapshot.api_version);
  archive("device_uuid", snapshot.device_uuid);
  archive("pipeline_cache_uuid", snapshot.pipeline_cache_uuid);
  archive("driver_id", snapshot.driver_id);
  archive("driver_version", snapshot.driver_version);
  archive("driver_name", snapshot.driver_name);
  archive("driver_info", snapshot.driver_info);
  archive("compute_units", snapshot.compute_units);
  archive("limits", snapshot.limits);
  archive("subgroup", snapshot.subgroup);
  archive("queue_families", snapshot.queue_families);
  archive("memory_heaps", snapshot.memory_heaps);
  archive("memory_types", snapshot.memory_types);
  archive("cooperative_matrices", snapshot.cooperative_matrices);
  archive("features", snapshot.features);
  archive("extensions", snapshot.extensions);
}

template <class T, class Archive>
concept Described = requires(Archive& archive, T& value) { describe(archive, value); };

struct Writer {
  Json json = Json::object();

  template <class T>
  void operator()(const char* key, T& value) {
    json[key] = write(value);
  }

  static Json write(DType dtype) { return to_string(dtype); }
  static Json write(DeviceType type) { return to_string(type); }
  template <class T>
  static Json write(std::vector<T>& values) {
    Json list = Json::array();
    for (T& value : values) list.push_back(write(value));
    return list;
  }
  template <class T>
  static Json write(T& value) {
    if constexpr (Described<T, Writer>) {
      Writer inner;
      describe(inner, value);
      return inner.json;
    } else {
      return value;
    }
  }
};

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json.find(key);
    if (found != json.end()) read(*found, value);
  }

  static void read(const Json& from, DType& dtype) {
    dtype = dtype_from_string(from.get<std::string>()).value_or(DType::undefined);
  }
  static void read(const Json& from, DeviceType& type) {
    const auto found = std::ranges::find(type_names, from.get<std::string>());
    type = found == type_names.end() ? DeviceType::other : static_cast<DeviceType>(found - type_names.begin());
  }
  template <class T>
  static void read(const Json& from, std::vector<T>& values) {
    values.clear();
    for (const Json& element : from) read(element, values.emplace_back());
  }
  template <class T>
  static void read(const Json& from, T& value) {
    if constexpr (Described<T, Reader>) {
      Reader inner{from};
      describe(inner, value);
    } else {
      from.get_to(value);
    }
  }
};

}  // namespace

bool DeviceSnapshot::has_extension(std::string_view extension) const noexcept {
  return std::ranges::binary_search(extensions, extension);
}

bool DeviceSnapshot::has_feature(std::string_view feature) const noexcept {
  return std::ranges::binary_search(features, feature);
}

std::string snapshot_to_json(const DeviceSnapshot& snapshot) {
  DeviceSnapshot copy = snapshot;
  return Writer::write(copy).dump(1) + "\n";
}

DeviceSnapshot snapshot_from_json(std::string_view text) {
  try {
    DeviceSnapshot snapshot;
    const Json json = Json::parse(text);
    if (!json.is_object()) fail(ErrorCode::invalid_argument, "a device snapshot is a JSON object");
    Reader::read(json, snapshot);
    std::ranges::sort(snapshot.extensions);
    std::ranges::sort(snapshot.features);
    return snapshot;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::invalid_argument, "device snapshot: {}", error.what());
  }
}

std::string version_text(std::uint32_t packed) {
  return std::format("{}.{}.{}", (packed >> 22U) & 0x7FU, (packed >> 12U) & 0x3FFU, packed & 0xFFFU);
}

std::string_view to_string(DeviceType type) noexcept { return type_names[static_cast<std::size_t>(type)]; }

}  // namespace lapilli
