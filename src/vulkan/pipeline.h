#pragma once

#include <memory>

#include "kernels/kernel_table.h"
#include "program/program.h"

namespace lapilli {

struct DeviceState;

/// A compiled compute pipeline with its layout. Made by VulkanDevice::pipeline; does not keep its device. Immutable.
class Pipeline {
 public:
  struct Handles;

  /// Throws Error (internal) when the spec does not fit the kernel, (limit_exceeded) when the device cannot take it.
  Pipeline(const DeviceState& device, const PipelineSpec& spec);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  [[nodiscard]] const KernelModule& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] const Handles& handles() const noexcept { return *handles_; }

 private:
  const KernelModule* kernel_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace lapilli
