#include "vulkan/pipeline.h"

#include <format>

#include "program/verify_kernels.h"
#include "vulkan/device_state.h"
#include "vulkan/guard.h"
#include "vulkan/pipeline_handles.h"
#include "vulkan/specialize.h"
#include "vulkan/wide_integers.h"

namespace lapilli {
namespace {

vk::raii::DescriptorSetLayout make_set_layout(const vk::raii::Device& device, const KernelModule& kernel) {
  std::vector<vk::DescriptorSetLayoutBinding> bindings;
  for (std::size_t i = 0; i < kernel.bindings.size(); ++i) {
    const bool uniform = kernel.bindings[i] == KernelBindingKind::uniform_buffer;
    bindings.emplace_back(static_cast<std::uint32_t>(i),
                          uniform ? vk::DescriptorType::eUniformBuffer : vk::DescriptorType::eStorageBuffer, 1U,
                          vk::ShaderStageFlagBits::eCompute);
  }
  return {device, vk::DescriptorSetLayoutCreateInfo({}, bindings)};
}

vk::raii::PipelineLayout make_layout(const vk::raii::Device& device, const KernelModule& kernel,
                                     const vk::raii::DescriptorSetLayout& set_layout) {
  const vk::PushConstantRange range(vk::ShaderStageFlagBits::eCompute, 0, kernel.push_constant_bytes);
  vk::PipelineLayoutCreateInfo info({}, *set_layout);
  if (kernel.push_constant_bytes != 0) info.setPushConstantRanges(range);
  return {device, info};
}

// What the device's driver gets: it may have no 64-bit integers.
std::vector<std::uint32_t> code_for(const DeviceTraits& traits, const PipelineSpec& spec,
                                    const KernelModule& kernel) {
  std::vector<std::uint32_t> spirv = without_dead_branches(kernel.spirv, spec.specialization);
  if (traits.int64) return spirv;
  const KernelModule* helpers = find_kernel(traits.float64 ? "wide_integers.float64" : "wide_integers.narrow");
  return helpers == nullptr ? spirv : without_wide_integers(spirv, helpers->spirv);
}

vk::raii::Pipeline make_pipeline(const DeviceState& device, const PipelineSpec& spec, const KernelModule& kernel,
                                 const vk::raii::PipelineLayout& layout) {
  const std::vector<std::uint32_t> spirv = code_for(device.plan.traits, spec, kernel);
  const vk::raii::ShaderModule module(device.device, vk::ShaderModuleCreateInfo({}, 4 * spirv.size(), spirv.data()));
  std::vector<vk::SpecializationMapEntry> entries;
  for (std::uint32_t i = 0; i < spec.specialization.size(); ++i) entries.emplace_back(i, 4 * i, 4U);
  vk::SpecializationInfo specialization;
  specialization.setMapEntries(entries);
  specialization.setData<std::uint32_t>(spec.specialization);
  const vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup_size(spec.subgroup_size);
  vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module, "main");
  if (!entries.empty()) stage.pSpecializationInfo = &specialization;
  if (spec.subgroup_size != 0) stage.pNext = &subgroup_size;
  return {device.device, device.pipeline_cache,
          vk::ComputePipelineCreateInfo(vk::PipelineCreateFlagBits::eDispatchBase, stage, *layout)};
}

}  // namespace

Pipeline::Pipeline(const DeviceState& device, const PipelineSpec& spec)
    : kernel_(&verify_pipeline(spec, device.plan.traits)), handles_(std::make_unique<Handles>()) {
  guard(std::format("compiling kernel {}", spec.kernel), [&] {
    handles_->set_layout = make_set_layout(device.device, *kernel_);
    handles_->layout = make_layout(device.device, *kernel_, handles_->set_layout);
    handles_->pipeline = make_pipeline(device, spec, *kernel_, handles_->layout);
  });
}

Pipeline::~Pipeline() = default;

}  // namespace lapilli
