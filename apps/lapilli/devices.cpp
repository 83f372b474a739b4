#include <format>
#include <iostream>

#include "base/text.h"
#include "command.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

void print_json(const std::vector<DeviceDescription>& devices) {
  Json array = Json::array();
  for (const DeviceDescription& device : devices) {
    array.push_back({{"index", device.index},
                     {"name", device.name},
                     {"type", device.type},
                     {"driver", device.driver},
                     {"vulkan", device.vulkan_version},
                     {"uuid", device.uuid},
                     {"memory_bytes", device.memory_bytes},
                     {"float16", device.float16},
                     {"cooperative_matrix", device.cooperative_matrix},
                     {"problem", device.problem}});
  }
  print(Json{{"devices", std::move(array)}});
}

void print_table(const std::vector<DeviceDescription>& devices) {
  Table table({"", "name", "type", "driver", "Vulkan", "memory", "float16", "matrix units", "UUID"}, {0, 5});
  for (const DeviceDescription& device : devices) {
    table.add({std::to_string(device.index), device.name, device.type, device.driver, device.vulkan_version,
               byte_text(device.memory_bytes), device.float16 ? "yes" : "no",
               device.cooperative_matrix ? "yes" : "no", device.uuid});
  }
  std::cout << table.text();
  for (const DeviceDescription& device : devices) {
    if (device.problem.empty()) continue;
    std::cout << styled(std::format("device {} cannot be used: {}", device.index, device.problem), Style::bad)
              << '\n';
  }
}

int list_devices(bool json) {
  const std::vector<DeviceDescription> devices = Device::list();
  if (json) {
    print_json(devices);
  } else {
    print_table(devices);
  }
  if (!devices.empty()) return success;
  std::cerr << "lapilli: Vulkan is there, but no device; a CPU driver is in Debian's mesa-vulkan-drivers\n";
  return device_error;
}

}  // namespace

void add_devices_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("devices", "List the devices that Vulkan offers");
  const auto json = std::make_shared<bool>(false);
  add_json_option(*command, *json);
  command->footer(R"(
The index, the UUID or a part of the name selects a device in other commands: --device nvidia

JSON: devices [index, name, type, driver, vulkan, uuid, memory_bytes, float16, cooperative_matrix, problem])");
  command->callback([json, &action] { action = [json] { return list_devices(*json); }; });
}

}  // namespace lapilli::program
