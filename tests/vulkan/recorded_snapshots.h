#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "vulkan/device_snapshot.h"

namespace lapilli {

/// The recorded snapshot in tests/vulkan/snapshots/NAME.json.
inline DeviceSnapshot recorded_snapshot(const std::string& name) {
  std::ifstream file(std::filesystem::path(SNAPSHOT_FOLDER) / (name + ".json"));
  return snapshot_from_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace lapilli
