#include <algorithm>
#include <chrono>
#include <optional>

#include "vulkan/device_state.h"
#include "vulkan/guard.h"
#include "vulkan/recording.h"
#include "vulkan/recording_handles.h"

namespace lapilli {
namespace {

constexpr std::chrono::microseconds polling_time(60);

vk::raii::Semaphore make_semaphore(const vk::raii::Device& device) {
  const vk::SemaphoreTypeCreateInfo type(vk::SemaphoreType::eTimeline, 0);
  return {device, vk::SemaphoreCreateInfo({}, &type)};
}

}  // namespace

struct Timeline::Handles {
  void submit(vk::CommandBuffer buffer, std::optional<std::uint64_t> value) const;

  std::shared_ptr<DeviceState> device;
  vk::raii::Semaphore semaphore = nullptr;
  std::uint64_t submitted = 0;  ///< value that the semaphore has once all is complete
  std::uint64_t complete = 0;   ///< value known to be reached
};

Timeline::Timeline(const VulkanDevice& device) : handles_(std::make_unique<Handles>()) {
  handles_->device = device.state();
  guard("timeline semaphore", [&] { handles_->semaphore = make_semaphore(handles_->device->device); });
}

Timeline::Timeline(Timeline&&) noexcept = default;

Timeline& Timeline::operator=(Timeline&& other) noexcept {
  std::swap(handles_, other.handles_);
  return *this;
}

Timeline::~Timeline() {
  if (!handles_) return;
  try {
    wait();
  } catch (const std::exception&) {
    handles_->complete = handles_->submitted;  // a lost device runs nothing any more
  }
}

std::uint64_t Timeline::submit(const Recording& recording) {
  const std::uint64_t value = handles_->submitted + 1;
  // The semaphore counts recordings: only the last part of one signals it.
  for (const vk::raii::CommandBuffer& part : recording.handles_->finished) handles_->submit(*part, std::nullopt);
  handles_->submit(*recording.handles_->commands, value);
  handles_->submitted = value;
  return value;
}

void Timeline::Handles::submit(vk::CommandBuffer buffer, std::optional<std::uint64_t> value) const {
  const vk::SemaphoreSubmitInfo signal(*semaphore, value.value_or(0), vk::PipelineStageFlagBits2::eAllCommands);
  const vk::CommandBufferSubmitInfo commands(buffer);
  vk::SubmitInfo2 submission({}, nullptr, commands, nullptr);
  if (value) submission.setSignalSemaphoreInfos(signal);
  guard("submitting work to the device", [&] {
    const auto& dispatcher = *device->device.getDispatcher();
    const auto submit2 =
        dispatcher.vkQueueSubmit2 != nullptr ? dispatcher.vkQueueSubmit2 : dispatcher.vkQueueSubmit2KHR;
    const std::scoped_lock lock(*device->queue_mutex);
    vk::detail::resultCheck(
        static_cast<vk::Result>(
            submit2(device->queue, 1, reinterpret_cast<const VkSubmitInfo2*>(&submission), VK_NULL_HANDLE)),
        "vkQueueSubmit2");
  });
}

bool Timeline::reached(std::uint64_t number) {
  if (handles_->complete >= number) return true;
  guard("asking the device how far it is", [&] { handles_->complete = handles_->semaphore.getCounterValue(); });
  return handles_->complete >= number;
}

bool Timeline::wait(std::uint64_t number, std::chrono::nanoseconds limit) {
  const auto start = std::chrono::steady_clock::now();
  const auto polling = std::min<std::chrono::nanoseconds>(polling_time, limit);
  do {
    if (reached(number)) return true;
  } while (std::chrono::steady_clock::now() - start < polling);
  if (limit <= polling) return false;
  return guard("waiting for the device", [&] {
    const vk::SemaphoreWaitInfo info({}, *handles_->semaphore, number);
    const auto rest = static_cast<std::uint64_t>((limit - polling).count());
    if (handles_->device->device.waitSemaphores(info, rest) != vk::Result::eSuccess) return false;
    handles_->complete = std::max(handles_->complete, number);
    return true;
  });
}

void Timeline::wait() { wait(handles_->submitted); }

}  // namespace lapilli
