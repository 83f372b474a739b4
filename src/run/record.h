#pragma once

#include <memory>
#include <span>
#include <vector>

#include "program/program.h"
#include "run/program_memory.h"
#include "vulkan/device.h"
#include "vulkan/recording.h"

namespace lapilli {

enum class Timing : std::uint8_t {
  whole_run,      ///< at the start, at the end, and where a submission ends and the next one begins
  each_dispatch,  ///< one at the start and one after each dispatch, which runs alone
};

/// The pipelines of `program`, in its order. An Error names the node that needs the one that failed.
std::vector<std::shared_ptr<const Pipeline>> make_pipelines(const VulkanDevice& device, const Program& program);

enum class Ports : std::uint8_t {
  host,    ///< copies of staged inputs before, of outputs for the host after
  device,  ///< no copies
};

/// Records one run of `program`.
Recording record(const VulkanDevice& device, const Program& program, const RunMemory& memory,
                 std::span<const std::shared_ptr<const Pipeline>> pipelines, Timing timing, Ports ports);

}  // namespace lapilli
