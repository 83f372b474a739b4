#include "vulkan/recording.h"

#include <algorithm>
#include <format>
#include <utility>

#include "vulkan/device_state.h"
#include "vulkan/guard.h"
#include "vulkan/pipeline_handles.h"
#include "vulkan/recording_handles.h"

namespace lapilli {
namespace {

bool includes(Stage stages, Stage stage) { return (static_cast<int>(stages) & static_cast<int>(stage)) != 0; }

vk::PipelineStageFlags2 stage_mask(Stage stages) {
  vk::PipelineStageFlags2 mask;
  if (includes(stages, Stage::host)) mask |= vk::PipelineStageFlagBits2::eHost;
  if (includes(stages, Stage::transfer)) mask |= vk::PipelineStageFlagBits2::eCopy;
  if (includes(stages, Stage::compute)) mask |= vk::PipelineStageFlagBits2::eComputeShader;
  return mask;
}

vk::AccessFlags2 written_by(Stage stages) {
  vk::AccessFlags2 mask;
  if (includes(stages, Stage::host)) mask |= vk::AccessFlagBits2::eHostWrite;
  if (includes(stages, Stage::transfer)) mask |= vk::AccessFlagBits2::eTransferWrite;
  if (includes(stages, Stage::compute)) mask |= vk::AccessFlagBits2::eShaderStorageWrite;
  return mask;
}

vk::AccessFlags2 touched_by(Stage stages) {
  vk::AccessFlags2 mask;
  if (includes(stages, Stage::host)) mask |= vk::AccessFlagBits2::eHostRead;
  if (includes(stages, Stage::transfer)) {
    mask |= vk::AccessFlagBits2::eTransferRead | vk::AccessFlagBits2::eTransferWrite;
  }
  if (includes(stages, Stage::compute)) {
    mask |= vk::AccessFlagBits2::eShaderStorageRead | vk::AccessFlagBits2::eShaderStorageWrite |
            vk::AccessFlagBits2::eUniformRead;
  }
  return mask;
}

vk::raii::DescriptorPool make_descriptor_pool(const vk::raii::Device& device, const RecordingSize& size) {
  std::vector<vk::DescriptorPoolSize> sizes;
  if (size.storage_buffers != 0) sizes.emplace_back(vk::DescriptorType::eStorageBuffer, size.storage_buffers);
  if (size.uniform_buffers != 0) sizes.emplace_back(vk::DescriptorType::eUniformBuffer, size.uniform_buffers);
  if (size.dispatches == 0 || sizes.empty()) return nullptr;
  return {device, vk::DescriptorPoolCreateInfo({}, size.dispatches, sizes)};
}

}  // namespace

Recording::Recording(const VulkanDevice& device, const RecordingSize& size) : handles_(std::make_unique<Handles>()) {
  handles_->device = device.state();
  const vk::raii::Device& logical = handles_->device->device;
  const DevicePlan& plan = handles_->device->plan;
  guard("recording commands", [&] {
    handles_->command_pool = vk::raii::CommandPool(logical, vk::CommandPoolCreateInfo({}, plan.queue_family));
    handles_->descriptor_pool = make_descriptor_pool(logical, size);
    handles_->begin();
    if (plan.timestamps && size.timestamps != 0) {
      handles_->timestamps = size.timestamps;
      handles_->query_pool =
          vk::raii::QueryPool(logical, vk::QueryPoolCreateInfo({}, vk::QueryType::eTimestamp, size.timestamps));
      handles_->commands.resetQueryPool(*handles_->query_pool, 0, size.timestamps);
    }
  });
}

Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

void Recording::dispatch(const Pipeline& pipeline, std::span<const BufferRange> bindings,
                         std::span<const std::uint32_t> push_constants, const GroupRange& groups) {
  const KernelModule& kernel = pipeline.kernel();
  if (bindings.size() != kernel.bindings.size()) {
    fail(ErrorCode::internal, "kernel {} binds {} buffers, but {} are given", kernel.name, kernel.bindings.size(),
         bindings.size());
  }
  if (push_constants.size_bytes() != kernel.push_constant_bytes) {
    fail(ErrorCode::internal, "kernel {} takes {} bytes of push constants, but {} are given", kernel.name,
         kernel.push_constant_bytes, push_constants.size_bytes());
  }
  guard("recording a dispatch", [&] {
    const vk::raii::CommandBuffer& commands = handles_->commands;
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline.handles().pipeline);
    if (!bindings.empty()) {
      commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, *pipeline.handles().layout, 0,
                                  handles_->make_set(pipeline, bindings), nullptr);
    }
    if (!push_constants.empty()) {
      commands.pushConstants<std::uint32_t>(
          *pipeline.handles().layout, vk::ShaderStageFlagBits::eCompute, 0,
          {static_cast<std::uint32_t>(push_constants.size()), push_constants.data()});
    }
    const auto &first = groups.first, &count = groups.count;
    // The validation layer looks for hazards of plain dispatches alone.
    if (first == std::array<std::uint32_t, 3>{}) {
      commands.dispatch(count[0], count[1], count[2]);
    } else {
      commands.dispatchBase(first[0], first[1], first[2], count[0], count[1], count[2]);
    }
  });
}

void Recording::cut() {
  guard("recording commands", [&] {
    handles_->commands.end();
    handles_->finished.push_back(std::move(handles_->commands));
    handles_->begin();
  });
}

void Recording::Handles::begin() {
  commands =
      std::move(device->device.allocateCommandBuffers({*command_pool, vk::CommandBufferLevel::ePrimary, 1}).front());
  commands.begin(vk::CommandBufferBeginInfo());
}

vk::DescriptorSet Recording::Handles::make_set(const Pipeline& pipeline,
                                               std::span<const BufferRange> bindings) const {
  const vk::DescriptorSetLayout layout = *pipeline.handles().set_layout;
  // Sets go with their pool, so the handle that would free this one alone lets go of it.
  const vk::DescriptorSet set = device->device.allocateDescriptorSets({*descriptor_pool, layout}).front().release();
  std::vector<vk::DescriptorBufferInfo> buffers;
  for (const BufferRange& range : bindings) {
    buffers.emplace_back(vk::Buffer(range.buffer->handle()), range.offset, range.size);
  }
  std::vector<vk::WriteDescriptorSet> writes;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const bool uniform = pipeline.kernel().bindings[i] == KernelBindingKind::uniform_buffer;
    writes.emplace_back(set, static_cast<std::uint32_t>(i), 0U, 1U,
                        uniform ? vk::DescriptorType::eUniformBuffer : vk::DescriptorType::eStorageBuffer, nullptr,
                        &buffers[i]);
  }
  device->device.updateDescriptorSets(writes, nullptr);
  return set;
}

void Recording::barrier(Stage before, Stage after) {
  const vk::MemoryBarrier2 memory(stage_mask(before), written_by(before), stage_mask(after), touched_by(after));
  handles_->pipeline_barrier(vk::DependencyInfo({}, memory));
}

void Recording::Handles::pipeline_barrier(const vk::DependencyInfo& dependency) const {
  // On a device of Vulkan 1.2 the extension's name is the one that is there.
  if (commands.getDispatcher()->vkCmdPipelineBarrier2 != nullptr) {
    commands.pipelineBarrier2(dependency);
  } else {
    commands.pipelineBarrier2KHR(dependency);
  }
}

void Recording::copy(const BufferRange& from, const BufferRange& to) {
  // llvmpipe of Mesa 26.1 counts the bytes of a region in 32 bits, with a sign.
  constexpr vk::DeviceSize most = vk::DeviceSize{1} << 30U;
  for (vk::DeviceSize done = 0; done < from.size; done += most) {
    const vk::BufferCopy region(from.offset + done, to.offset + done, std::min(most, from.size - done));
    handles_->commands.copyBuffer(from.buffer->handle(), to.buffer->handle(), region);
  }
}

void Recording::timestamp() {
  if (handles_->written == handles_->timestamps) return;
  handles_->commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *handles_->query_pool,
                                    handles_->written++);
}

void Recording::finish() {
  guard("recording commands", [&] { handles_->commands.end(); });
}

std::vector<std::uint64_t> Recording::timestamps() const {
  if (handles_->written == 0) return {};
  const DeviceSnapshot& snapshot = handles_->device->snapshot;
  const std::uint32_t bits = snapshot.queue_families[handles_->device->plan.queue_family].timestamp_bits;
  std::vector<std::uint64_t> ticks = guard("reading timestamps", [&] {
    auto [result, values] = handles_->query_pool.getResults<std::uint64_t>(
        0, handles_->written, handles_->written * sizeof(std::uint64_t), sizeof(std::uint64_t),
        vk::QueryResultFlagBits::e64);
    if (result != vk::Result::eSuccess) fail(ErrorCode::internal, "timestamps are read before their work has ended");
    return std::move(values);
  });
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t start = ticks.front();
  std::vector<std::uint64_t> times;
  times.reserve(ticks.size());
  for (const std::uint64_t tick : ticks) {
    // Differences survive the counter's wrap; the first timestamp is the zero of the clock.
    times.push_back(
        static_cast<std::uint64_t>(static_cast<double>((tick - start) & mask) * snapshot.limits.timestamp_period));
  }
  return times;
}

}  // namespace lapilli
