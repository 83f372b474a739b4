#include "program/verify_kernels.h"

#include <bit>
#include <format>
#include <vector>

#include "base/failure.h"

namespace lapilli {
namespace {

void verify_group_size(const PipelineSpec& spec, const KernelModule& kernel, const DeviceTraits& traits) {
  std::uint64_t invocations = 1;
  for (std::size_t axis = 0; axis < kernel.group_size.size(); ++axis) {
    const auto& [otherwise, id] = kernel.group_size[axis];
    const std::uint32_t size = id && *id < spec.specialization.size() ? spec.specialization[*id] : otherwise;
    if (size == 0 || size > traits.max_group_size[axis]) {
      fail(ErrorCode::limit_exceeded, "kernel {} has workgroups of {} along axis {}, but {} allows 1 to {}",
           kernel.name, size, axis, traits.name, traits.max_group_size[axis]);
    }
    // Each is below 2^32, and the product so far within the limit.
    invocations *= size;
    if (invocations > traits.max_group_invocations) {
      fail(ErrorCode::limit_exceeded, "kernel {} has workgroups of {} invocations, but {} allows {}", kernel.name,
           invocations, traits.name, traits.max_group_invocations);
    }
  }
}

void verify_dispatch(const Program& program, const Dispatch& dispatch, const KernelModule& kernel) {
  if (dispatch.bindings.size() != kernel.bindings.size()) {
    fail(ErrorCode::internal, "kernel {} binds {} buffers, but {} are given", kernel.name, kernel.bindings.size(),
         dispatch.bindings.size());
  }
  if (dispatch.push_constants.size() * 4 != kernel.push_constant_bytes) {
    fail(ErrorCode::internal, "kernel {} takes {} bytes of push constants, but {} are given", kernel.name,
         kernel.push_constant_bytes, dispatch.push_constants.size() * 4);
  }
  for (std::size_t i = 0; i < kernel.bindings.size(); ++i) {
    const std::uint32_t segment = dispatch.bindings[i].segment;
    const bool uniform =
        segment < program.segments.size() && program.segments[segment].kind == SegmentKind::parameters;
    if (uniform != (kernel.bindings[i] == KernelBindingKind::uniform_buffer)) {
      fail(ErrorCode::internal, "binding {} of kernel {} is {} parameters", i, kernel.name,
           uniform ? "not for" : "for");
    }
  }
}

}  // namespace

const KernelModule& verify_pipeline(const PipelineSpec& spec, const DeviceTraits& traits) {
  const KernelModule* kernel = find_kernel(spec.kernel);
  if (kernel == nullptr) fail(ErrorCode::internal, "there is no kernel named {}", spec.kernel);
  if (spec.specialization.size() > kernel->specialization_constants) {
    fail(ErrorCode::internal, "kernel {} has {} specialization constants, but {} are given", kernel->name,
         kernel->specialization_constants, spec.specialization.size());
  }
  if (kernel->push_constant_bytes > traits.max_push_constants) {
    fail(ErrorCode::limit_exceeded, "kernel {} takes {} bytes of push constants, but {} allows {}", kernel->name,
         kernel->push_constant_bytes, traits.name, traits.max_push_constants);
  }
  if (kernel->bindings.size() > traits.max_storage_buffers) {
    fail(ErrorCode::limit_exceeded, "kernel {} binds {} buffers, but {} allows {}", kernel->name,
         kernel->bindings.size(), traits.name, traits.max_storage_buffers);
  }
  verify_group_size(spec, *kernel, traits);
  const std::uint32_t size = spec.subgroup_size;
  if (size == 0) return *kernel;
  if (!std::has_single_bit(size)) fail(ErrorCode::internal, "kernel {} needs subgroups of {}", kernel->name, size);
  if (!traits.subgroup_size_control || size < traits.min_subgroup_size || size > traits.max_subgroup_size) {
    fail(ErrorCode::limit_exceeded, "kernel {} needs subgroups of {}, but {} offers {} to {}{}", kernel->name, size,
         traits.name, traits.min_subgroup_size, traits.max_subgroup_size,
         traits.subgroup_size_control ? "" : " and no choice");
  }
  return *kernel;
}

void verify_kernels(const Program& program, const DeviceTraits& traits) {
  std::vector<const KernelModule*> kernels;
  for (const PipelineSpec& spec : program.pipelines) kernels.push_back(&verify_pipeline(spec, traits));
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const auto* dispatch = std::get_if<Dispatch>(&program.steps[step]);
    if (dispatch == nullptr) continue;
    with_context(std::format("step {}", step),
                 [&] { verify_dispatch(program, *dispatch, *kernels.at(dispatch->pipeline)); });
  }
}

}  // namespace lapilli
