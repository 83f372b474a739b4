// A Vulkan loader that passes everything on to the system's own, and lets calls fail as tests want.
#include "vulkan/faulty_vulkan.h"

#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include <array>
#include <cstring>
#include <string_view>

namespace lapilli {
namespace {

FaultControl control;

enum class Call : std::uint8_t {
  create_instance,
  create_device,
  allocate_memory,
  create_buffer,
  create_shader_module,
  create_descriptor_set_layout,
  create_pipeline_layout,
  create_pipelines,
  create_pipeline_cache,
  create_command_pool,
  create_descriptor_pool,
  create_semaphore,
  create_query_pool,
  allocate_command_buffers,
  allocate_descriptor_sets,
  begin_commands,
  end_commands,
  map_memory,
  submit,
  wait,
  counter,
  destroy_instance,
  destroy_device,
  free_memory,
  destroy_buffer,
  destroy_shader_module,
  destroy_descriptor_set_layout,
  destroy_pipeline_layout,
  destroy_pipeline,
  destroy_pipeline_cache,
  destroy_command_pool,
  destroy_descriptor_pool,
  destroy_semaphore,
  destroy_query_pool,
  count
};

// Devices of one driver share their functions.
std::array<std::atomic<PFN_vkVoidFunction>, static_cast<std::size_t>(Call::count)> next;

bool fires(FaultKind kind) {
  if (!control.armed || control.kind != kind) return false;
  if (control.calls_left.fetch_sub(1) != 1) return false;
  control.fired = true;
  return true;
}

template <Call call, class... Arguments>
VkResult pass_on(Arguments... arguments) {
  using Function = VkResult(VKAPI_PTR*)(Arguments...);
  return reinterpret_cast<Function>(next[static_cast<std::size_t>(call)].load())(arguments...);
}

VkResult failure_of_creation(bool memory) {
  if (memory && fires(FaultKind::allocation)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return fires(FaultKind::creation) ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

// Something that has to be destroyed.
template <Call call, class... Arguments>
VKAPI_ATTR VkResult VKAPI_CALL creating(Arguments... arguments) {
  if (const VkResult failure = failure_of_creation(call == Call::allocate_memory); failure != VK_SUCCESS) {
    return failure;
  }
  const VkResult result = pass_on<call>(arguments...);
  if (result == VK_SUCCESS) ++control.live;
  return result;
}

// Something that goes with its pool, or nothing.
template <Call call, class... Arguments>
VKAPI_ATTR VkResult VKAPI_CALL using_memory(Arguments... arguments) {
  const VkResult failure = failure_of_creation(false);
  return failure != VK_SUCCESS ? failure : pass_on<call>(arguments...);
}

std::atomic<PFN_vkGetDeviceProcAddr> real_device_functions;

// A lost device runs nothing any more, so that all it used may go.
void let_it_end(VkDevice device) {
  const auto wait = real_device_functions.load()(device, "vkDeviceWaitIdle");
  reinterpret_cast<PFN_vkDeviceWaitIdle>(wait)(device);
}
void let_it_end(VkQueue /*queue*/) {}

std::atomic<bool> asked{true};  // how far the device is, since the last submission

template <Call call, FaultKind kind, class Owner, class... Arguments>
VKAPI_ATTR VkResult VKAPI_CALL losing(Owner owner, Arguments... arguments) {
  if (kind == FaultKind::submission) asked = false;
  if (fires(kind)) {
    let_it_end(owner);
    control.lost = true;
  }
  return control.lost ? VK_ERROR_DEVICE_LOST : pass_on<call>(owner, arguments...);
}

// How often a host that polls asks is up to the load of the machine, so only the first question after a submission
// and those that find it done may fail.
VKAPI_ATTR VkResult VKAPI_CALL ask_counter(VkDevice device, VkSemaphore semaphore, std::uint64_t* value) {
  static std::atomic<std::uint64_t> last{0};
  const bool first = !asked.exchange(true);
  const VkResult result = control.lost ? VK_ERROR_DEVICE_LOST : pass_on<Call::counter>(device, semaphore, value);
  if (result != VK_SUCCESS || (last.exchange(*value) == *value && !first) || !fires(FaultKind::completion))
    return result;
  let_it_end(device);
  control.lost = true;
  return VK_ERROR_DEVICE_LOST;
}

template <class Handle>
bool is_null(Handle handle) {
  return handle == VK_NULL_HANDLE;
}

template <Call call, class Parent, class Handle>
VKAPI_ATTR void VKAPI_CALL destroying(Parent parent, Handle handle, const VkAllocationCallbacks* callbacks) {
  if (!is_null(handle)) --control.live;
  using Function = void(VKAPI_PTR*)(Parent, Handle, const VkAllocationCallbacks*);
  reinterpret_cast<Function>(next[static_cast<std::size_t>(call)].load())(parent, handle, callbacks);
}

template <Call call, class Handle>
VKAPI_ATTR void VKAPI_CALL destroying_root(Handle handle, const VkAllocationCallbacks* callbacks) {
  if (!is_null(handle)) --control.live;
  using Function = void(VKAPI_PTR*)(Handle, const VkAllocationCallbacks*);
  reinterpret_cast<Function>(next[static_cast<std::size_t>(call)].load())(handle, callbacks);
}

// The functions of the same signature.
template <Call call, class... Arguments>
PFN_vkVoidFunction creating_like(VkResult(VKAPI_PTR* /*signature*/)(Arguments...)) {
  return reinterpret_cast<PFN_vkVoidFunction>(&creating<call, Arguments...>);
}
template <Call call, class... Arguments>
PFN_vkVoidFunction using_like(VkResult(VKAPI_PTR* /*signature*/)(Arguments...)) {
  return reinterpret_cast<PFN_vkVoidFunction>(&using_memory<call, Arguments...>);
}
template <Call call, FaultKind kind, class... Arguments>
PFN_vkVoidFunction losing_like(VkResult(VKAPI_PTR* /*signature*/)(Arguments...)) {
  return reinterpret_cast<PFN_vkVoidFunction>(&losing<call, kind, Arguments...>);
}
template <Call call, class Parent, class Handle>
PFN_vkVoidFunction destroying_like(void(VKAPI_PTR* /*signature*/)(Parent, Handle, const VkAllocationCallbacks*)) {
  return reinterpret_cast<PFN_vkVoidFunction>(&destroying<call, Parent, Handle>);
}
template <Call call, class Handle>
PFN_vkVoidFunction destroying_root_like(void(VKAPI_PTR* /*signature*/)(Handle, const VkAllocationCallbacks*)) {
  return reinterpret_cast<PFN_vkVoidFunction>(&destroying_root<call, Handle>);
}

struct Hook {
  std::string_view name;
  Call call;
  PFN_vkVoidFunction function;
};

const auto& hooks() {
  using enum Call;
  static const std::array table{
      Hook{"vkCreateInstance", create_instance, creating_like<create_instance>(PFN_vkCreateInstance{})},
      Hook{"vkCreateDevice", create_device, creating_like<create_device>(PFN_vkCreateDevice{})},
      Hook{"vkAllocateMemory", allocate_memory, creating_like<allocate_memory>(PFN_vkAllocateMemory{})},
      Hook{"vkCreateBuffer", create_buffer, creating_like<create_buffer>(PFN_vkCreateBuffer{})},
      Hook{"vkCreateShaderModule", create_shader_module,
           creating_like<create_shader_module>(PFN_vkCreateShaderModule{})},
      Hook{"vkCreateDescriptorSetLayout", create_descriptor_set_layout,
           creating_like<create_descriptor_set_layout>(PFN_vkCreateDescriptorSetLayout{})},
      Hook{"vkCreatePipelineLayout", create_pipeline_layout,
           creating_like<create_pipeline_layout>(PFN_vkCreatePipelineLayout{})},
      Hook{"vkCreateComputePipelines", create_pipelines,
           creating_like<create_pipelines>(PFN_vkCreateComputePipelines{})},
      Hook{"vkCreatePipelineCache", create_pipeline_cache,
           creating_like<create_pipeline_cache>(PFN_vkCreatePipelineCache{})},
      Hook{"vkCreateCommandPool", create_command_pool, creating_like<create_command_pool>(PFN_vkCreateCommandPool{})},
      Hook{"vkCreateDescriptorPool", create_descriptor_pool,
           creating_like<create_descriptor_pool>(PFN_vkCreateDescriptorPool{})},
      Hook{"vkCreateSemaphore", create_semaphore, creating_like<create_semaphore>(PFN_vkCreateSemaphore{})},
      Hook{"vkCreateQueryPool", create_query_pool, creating_like<create_query_pool>(PFN_vkCreateQueryPool{})},
      Hook{"vkAllocateCommandBuffers", allocate_command_buffers,
           using_like<allocate_command_buffers>(PFN_vkAllocateCommandBuffers{})},
      Hook{"vkAllocateDescriptorSets", allocate_descriptor_sets,
           using_like<allocate_descriptor_sets>(PFN_vkAllocateDescriptorSets{})},
      Hook{"vkBeginCommandBuffer", begin_commands, using_like<begin_commands>(PFN_vkBeginCommandBuffer{})},
      Hook{"vkEndCommandBuffer", end_commands, using_like<end_commands>(PFN_vkEndCommandBuffer{})},
      Hook{"vkMapMemory", map_memory, using_like<map_memory>(PFN_vkMapMemory{})},
      Hook{"vkQueueSubmit2", submit, losing_like<submit, FaultKind::submission>(PFN_vkQueueSubmit2{})},
      Hook{"vkWaitSemaphores", wait, losing_like<wait, FaultKind::completion>(PFN_vkWaitSemaphores{})},
      Hook{"vkGetSemaphoreCounterValue", counter, reinterpret_cast<PFN_vkVoidFunction>(&ask_counter)},
      Hook{"vkDestroyInstance", destroy_instance, destroying_root_like<destroy_instance>(PFN_vkDestroyInstance{})},
      Hook{"vkDestroyDevice", destroy_device, destroying_root_like<destroy_device>(PFN_vkDestroyDevice{})},
      Hook{"vkFreeMemory", free_memory, destroying_like<free_memory>(PFN_vkFreeMemory{})},
      Hook{"vkDestroyBuffer", destroy_buffer, destroying_like<destroy_buffer>(PFN_vkDestroyBuffer{})},
      Hook{"vkDestroyShaderModule", destroy_shader_module,
           destroying_like<destroy_shader_module>(PFN_vkDestroyShaderModule{})},
      Hook{"vkDestroyDescriptorSetLayout", destroy_descriptor_set_layout,
           destroying_like<destroy_descriptor_set_layout>(PFN_vkDestroyDescriptorSetLayout{})},
      Hook{"vkDestroyPipelineLayout", destroy_pipeline_layout,
           destroying_like<destroy_pipeline_layout>(PFN_vkDestroyPipelineLayout{})},
      Hook{"vkDestroyPipeline", destroy_pipeline, destroying_like<destroy_pipeline>(PFN_vkDestroyPipeline{})},
      Hook{"vkDestroyPipelineCache", destroy_pipeline_cache,
           destroying_like<destroy_pipeline_cache>(PFN_vkDestroyPipelineCache{})},
      Hook{"vkDestroyCommandPool", destroy_command_pool,
           destroying_like<destroy_command_pool>(PFN_vkDestroyCommandPool{})},
      Hook{"vkDestroyDescriptorPool", destroy_descriptor_pool,
           destroying_like<destroy_descriptor_pool>(PFN_vkDestroyDescriptorPool{})},
      Hook{"vkDestroySemaphore", destroy_semaphore, destroying_like<destroy_semaphore>(PFN_vkDestroySemaphore{})},
      Hook{"vkDestroyQueryPool", destroy_query_pool, destroying_like<destroy_query_pool>(PFN_vkDestroyQueryPool{})},
  };
  return table;
}

PFN_vkVoidFunction hooked(std::string_view name, PFN_vkVoidFunction real) {
  if (real == nullptr) return nullptr;
  for (const Hook& hook : hooks()) {
    if (hook.name != name) continue;
    next[static_cast<std::size_t>(hook.call)] = real;
    return hook.function;
  }
  return real;
}

PFN_vkGetInstanceProcAddr real_loader() {
  static const auto function = [] {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library == nullptr ? nullptr
                              : reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  }();
  return function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char* name) {
  std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(&device_function);
  // As it is called before Vulkan 1.3.
  if (wanted == "vkQueueSubmit2KHR") wanted = "vkQueueSubmit2";
  return hooked(wanted, real_device_functions.load()(device, name));
}

}  // namespace
}  // namespace lapilli

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char* name) {
  if (lapilli::real_loader() == nullptr) return nullptr;
  const PFN_vkVoidFunction real = lapilli::real_loader()(instance, name);
  if (std::strcmp(name, "vkGetInstanceProcAddr") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(&vkGetInstanceProcAddr);
  }
  if (real != nullptr && std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
    lapilli::real_device_functions = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(&lapilli::device_function);
  }
  return lapilli::hooked(name, real);
}

extern "C" __attribute__((visibility("default"))) lapilli::FaultControl* lapilli_fault_control() {
  return &lapilli::control;
}
