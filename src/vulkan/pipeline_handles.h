#pragma once

#include "vulkan/hpp.h"
#include "vulkan/pipeline.h"

namespace lapilli {

struct Pipeline::Handles {
  vk::raii::DescriptorSetLayout set_layout = nullptr;
  vk::raii::PipelineLayout layout = nullptr;
  vk::raii::Pipeline pipeline = nullptr;
};

}  // namespace lapilli
