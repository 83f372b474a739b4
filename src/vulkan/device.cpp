#include "vulkan/device.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "vulkan/device_choice.h"
#include "vulkan/device_state.h"
#include "vulkan/feature_chain.h"
#include "vulkan/guard.h"
#include "vulkan/loader.h"
#include "vulkan/snapshot_reader.h"

namespace lapilli {
namespace {

std::filesystem::path cache_folder(const DeviceOptions& options) {
  if (!options.pipeline_cache) return {};
  return options.pipeline_cache_folder.empty() ? user_cache_folder() : options.pipeline_cache_folder;
}

std::vector<DeviceSnapshot> read_snapshots(const std::vector<vk::raii::PhysicalDevice>& physical_devices) {
  std::vector<DeviceSnapshot> snapshots;
  for (const vk::raii::PhysicalDevice& physical_device : physical_devices) {
    snapshots.push_back(read_snapshot(physical_device));
  }
  return snapshots;
}

vk::raii::Device create_device(const DeviceState& state) {
  FeatureChain features(state.snapshot);
  features.enable(state.plan.features);
  std::vector<const char*> extensions;
  for (const std::string& extension : state.plan.extensions) extensions.push_back(extension.c_str());
  const std::array<float, 1> priorities{1.0F};
  const vk::DeviceQueueCreateInfo queue({}, state.plan.queue_family, priorities);
  vk::DeviceCreateInfo info({}, queue);
  info.setPEnabledExtensionNames(extensions);
  info.pNext = &features.head();
  return {state.physical_device, info};
}

void finish(DeviceState& state, const DeviceOptions& options) {
  state.plan.traits.longest_submit = work_of(options.longest_submit, state.plan.traits);
  const bool budget = std::ranges::contains(state.plan.extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  state.allocator = make_allocator(state.instance->get_instance_proc_addr(), state.instance->handle(),
                                   state.physical_device, state.device, budget);
  state.ledger.set_budget(options.memory_budget);
  state.open_pipeline_cache(cache_folder(options));
}

}  // namespace

VulkanDevice VulkanDevice::open(const DeviceOptions& options) {
  auto state = std::make_shared<DeviceState>();
  state->instance = std::make_unique<Instance>(options);
  state->validation = options.validation;
  guard("opening the device", [&] {
    const auto physical_devices = state->instance->physical_devices();
    const std::vector<DeviceSnapshot> snapshots = read_snapshots(physical_devices);
    DeviceChoice choice = choose_device(snapshots, options);
    state->notice = std::move(choice.notice);
    state->physical_device = physical_devices[choice.index];
    state->snapshot = snapshots[choice.index];
    state->plan = make_device_plan(state->snapshot, options.restrictions);
    state->device = create_device(*state);
    state->queue = *state->device.getQueue(state->plan.queue_family, 0);
    finish(*state, options);
  });
  return VulkanDevice(std::move(state));
}

VulkanDevice VulkanDevice::wrap(const ExternalDevice& external, const DeviceOptions& options) {
  if (external.instance == nullptr || external.physical_device == nullptr || external.device == nullptr ||
      external.queue == nullptr) {
    fail(ErrorCode::invalid_argument, "a lent device needs an instance, a physical device, a device and a queue");
  }
  auto state = std::make_shared<DeviceState>();
  state->lent = true;
  state->instance = std::make_unique<Instance>(Loader(options.loader).get_instance_proc_addr(), external.instance);
  guard("taking the lent device", [&] {
    state->physical_device = vk::raii::PhysicalDevice(state->instance->handle(), external.physical_device);
    state->snapshot = read_snapshot(state->physical_device);
    state->plan = make_device_plan(state->snapshot, options.restrictions, &external.enabled);
    state->device = vk::raii::Device(state->physical_device, external.device);
    state->queue = external.queue;
    if (external.queue_mutex) state->queue_mutex = external.queue_mutex;
    finish(*state, options);
  });
  return VulkanDevice(std::move(state));
}

ExternalDevice VulkanDevice::lend() const {
  const vk::Instance instance = *state_->instance->handle();
  const vk::PhysicalDevice physical_device = *state_->physical_device;
  const vk::Device device = *state_->device;
  const LentDevice enabled{state_->plan.queue_family, Instance::api_version, state_->plan.extensions,
                           state_->plan.features};
  return {instance, physical_device, device, state_->queue, enabled, state_->queue_mutex};
}

std::vector<DeviceSnapshot> VulkanDevice::list(const DeviceOptions& options) {
  const Instance instance(options);
  return guard("listing devices", [&] { return read_snapshots(instance.physical_devices()); });
}

const DeviceTraits& VulkanDevice::traits() const noexcept { return state_->plan.traits; }
const DevicePlan& VulkanDevice::plan() const noexcept { return state_->plan; }
const DeviceSnapshot& VulkanDevice::snapshot() const noexcept { return state_->snapshot; }
const std::string& VulkanDevice::notice() const noexcept { return state_->notice; }

Buffer VulkanDevice::allocate(std::uint64_t bytes, MemoryKind kind) const { return {state_, bytes, kind}; }

std::shared_ptr<const Pipeline> VulkanDevice::pipeline(const PipelineSpec& spec) const {
  {
    const std::scoped_lock lock(state_->pipelines_mutex);
    const auto found = state_->pipelines.find(spec);
    if (found != state_->pipelines.end()) return found->second;
  }
  // Compiled outside the lock; when two threads want the same one, the later result is dropped.
  auto made = std::make_shared<const Pipeline>(*state_, spec);
  state_->cache_is_newer = true;
  const std::scoped_lock lock(state_->pipelines_mutex);
  return state_->pipelines.try_emplace(spec, std::move(made)).first->second;
}

std::vector<std::shared_ptr<const Pipeline>> VulkanDevice::pipelines(std::span<const PipelineSpec> specs) const {
  const std::set<PipelineSpec> distinct(specs.begin(), specs.end());
  const std::vector<PipelineSpec> wanted(distinct.begin(), distinct.end());
  parallel_for(wanted.size(), [&](std::size_t i) { (void)pipeline(wanted[i]); });
  std::vector<std::shared_ptr<const Pipeline>> result;
  for (const PipelineSpec& spec : specs) result.push_back(pipeline(spec));
  state_->save_pipeline_cache();
  return result;
}

void VulkanDevice::write_pipeline_cache() const {
  guard("reading the pipeline cache", [&] { state_->write_pipeline_cache(); });
}

bool VulkanDevice::has_pipeline(const PipelineSpec& spec) const {
  const std::scoped_lock lock(state_->pipelines_mutex);
  return state_->pipelines.contains(spec);
}

MemoryUse VulkanDevice::memory() const {
  const MemoryLedger& ledger = state_->ledger;
  return {ledger.in_use(), ledger.peak(), reserved_bytes(state_->allocator), ledger.budget()};
}

bool VulkanDevice::validation() const noexcept { return state_->validation; }

std::vector<std::string> VulkanDevice::validation_messages() const { return state_->instance->log().messages(); }

}  // namespace lapilli
