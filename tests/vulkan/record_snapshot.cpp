// Prints the snapshots of this machine's devices, or of the one that matches the argument, as JSON for
// tests/vulkan/snapshots.

#include <exception>
#include <iostream>
#include <span>

#include "vulkan/device.h"
#include "vulkan/device_choice.h"

int main(int argc, char** argv) {
  try {
    lapilli::DeviceOptions options;
    const std::vector<lapilli::DeviceSnapshot> devices = lapilli::VulkanDevice::list(options);
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    if (arguments.size() > 1) options.selector = arguments[1];
    lapilli::DeviceSnapshot device = devices.at(lapilli::choose_device(devices, options).index);
    device.source = "recorded with record_snapshot";
    std::cout << lapilli::snapshot_to_json(device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "record_snapshot: " << error.what() << '\n';
    return 1;
  }
}
