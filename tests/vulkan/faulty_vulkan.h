#pragma once

#include <atomic>
#include <cstdint>

namespace lapilli {

/// What a failing call of Vulkan may be.
enum class FaultKind : std::uint8_t {
  allocation,  ///< memory of the device: out of device memory
  creation,    ///< any object or memory: out of host memory
  submission,  ///< a submission: the device is lost, and stays it
  completion,  ///< waiting for work: the device is lost, and stays it
};

/// What tests tell faulty_vulkan, a library that stands in front of the Vulkan loader (DeviceOptions::loader), and
/// what it tells them.
struct FaultControl {
  std::atomic<bool> armed{false};
  std::atomic<FaultKind> kind{FaultKind::allocation};
  std::atomic<std::int64_t> calls_left{0};  ///< calls of that kind until one fails
  std::atomic<bool> fired{false};
  std::atomic<bool> lost{false};      ///< the device of this moment
  std::atomic<std::int64_t> live{0};  ///< objects and memory that were made and not destroyed

  void arm(FaultKind which, std::int64_t number) {
    kind = which;
    calls_left = number;
    fired = false;
    armed = true;
  }
  void disarm() { armed = lost = false; }
};

}  // namespace lapilli

/// The name under which faulty_vulkan exports a function that returns the FaultControl.
constexpr const char* fault_control_symbol = "lapilli_fault_control";
