#include "run/executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/failure.h"
#include "base/packed.h"
#include "program/verify.h"
#include "run/record.h"
#include "run/upload.h"

namespace lapilli {
namespace {

#ifdef NDEBUG
constexpr bool always_verify = false;
#else
constexpr bool always_verify = true;
#endif

std::shared_ptr<const Program> verified(const VulkanDevice& device, std::shared_ptr<const Program> program) {
  if (always_verify || device.validation()) verify(*program, device.traits());
  return program;
}

template <class Span>
void check_sizes(const char* what, std::span<const Span> given, const std::vector<Port>& ports) {
  if (given.size() != ports.size()) {
    fail(ErrorCode::invalid_argument, "the model has {} {}s, but {} are given", ports.size(), what, given.size());
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::size_t bytes = byte_count(ports[i].dtype, element_count(ports[i].shape));
    if (given[i].size() != bytes) {
      fail(ErrorCode::invalid_argument, "{} {} has {} bytes, but {} are given", what, ports[i].name, bytes,
           given[i].size());
    }
  }
}

}  // namespace

Executor::Executor(VulkanDevice device, std::shared_ptr<ResidentConstants> constants,
                   std::shared_ptr<const Program> program)
    : device_(std::move(device)),
      constants_(std::move(constants)),
      program_(verified(device_, std::move(program))),
      pipelines_(make_pipelines(device_, *program_)),
      memory_(device_, *constants_, *program_),
      recording_(record(device_, *program_, memory_, pipelines_, Timing::whole_run, Ports::host)),
      timeline_(device_) {}

void Executor::run(std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) {
  check_sizes("output", outputs, program_->outputs);
  submit(inputs);
  wait(outputs);
}

void Executor::submit(std::span<const std::span<const std::byte>> inputs) {
  check_sizes("input", inputs, program_->inputs);
  if (submitted_) fail(ErrorCode::invalid_argument, "a run was submitted and not waited for");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PortMemory& port = memory_.inputs()[i];
    if (port.bytes == 0) continue;
    copy_to_device(program_->inputs[i].dtype, inputs[i], port.mapped());
    port.host.buffer->flush(port.host.offset, port.bytes);
  }
  timeline_.submit(recording_);
  submitted_ = true;
}

void Executor::wait(std::span<const std::span<std::byte>> outputs) {
  check_sizes("output", outputs, program_->outputs);
  if (!submitted_) fail(ErrorCode::invalid_argument, "no run was submitted");
  submitted_ = false;
  timeline_.wait();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PortMemory& port = memory_.outputs()[i];
    if (port.bytes == 0) continue;
    port.host.buffer->invalidate(port.host.offset, port.bytes);
    copy_from_device(program_->outputs[i].dtype, port.mapped(), outputs[i]);
  }
}

// Bytes of the host are there when this returns; copies on the device are submitted.
void Executor::place_inputs(std::span<const Input> inputs) {
  std::vector<Upload> uploads;
  copies_in_.emplace(device_, RecordingSize{});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PortMemory& port = memory_.inputs().at(i);
    const auto* tensor = std::get_if<const DeviceTensor*>(&inputs[i]);
    const std::span<const std::byte> bytes =
        tensor == nullptr ? std::get<std::span<const std::byte>>(inputs[i]) : std::span<const std::byte>();
    const Port& wanted = program_->inputs[i];
    const std::uint64_t size = tensor == nullptr ? bytes.size() : (*tensor)->range().size;
    const std::uint64_t needed =
        tensor == nullptr ? byte_count(wanted.dtype, element_count(wanted.shape)) : port.bytes;
    if (size != needed) {
      fail(ErrorCode::invalid_argument, "input {} has {} bytes, but {} are given", wanted.name, needed, size);
    }
    if (size == 0) continue;
    if (tensor != nullptr) {
      copies_in_->copy((*tensor)->range(), port.device);
    } else {
      const DType dtype = wanted.dtype;
      uploads.push_back({port.device, [bytes, dtype](std::span<std::byte> to) { copy_to_device(dtype, bytes, to); }});
    }
  }
  copies_in_->barrier(Stage::transfer, Stage::compute);
  copies_in_->finish();
  upload(device_, uploads);
  timeline_.submit(*copies_in_);
}

std::vector<std::shared_ptr<const DeviceTensor>> Executor::run_on_device(std::span<const Input> inputs) {
  if (submitted_) fail(ErrorCode::invalid_argument, "a run was submitted and not waited for");
  if (inputs.size() != program_->inputs.size()) {
    fail(ErrorCode::invalid_argument, "the model has {} inputs, but {} are given", program_->inputs.size(),
         inputs.size());
  }
  if (!bare_) bare_.emplace(record(device_, *program_, memory_, pipelines_, Timing::whole_run, Ports::device));
  std::vector<std::shared_ptr<const DeviceTensor>> outputs;
  Recording copies_out(device_, {});
  copies_out.barrier(Stage::compute, Stage::transfer);
  for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
    const Port& port = program_->outputs[i];
    outputs.push_back(std::make_shared<const DeviceTensor>(device_, port.dtype, port.shape));
    if (memory_.outputs()[i].bytes != 0) copies_out.copy(memory_.outputs()[i].device, outputs.back()->range());
  }
  copies_out.barrier(Stage::transfer, Stage::host | Stage::transfer);
  copies_out.finish();
  place_inputs(inputs);
  timeline_.submit(*bare_);
  timeline_.submit(copies_out);
  timeline_.wait();
  return outputs;
}

std::optional<std::uint64_t> Executor::gpu_nanoseconds() const {
  const std::vector<std::uint64_t> times = recording_.timestamps();
  return times.size() == 2 ? std::optional(times[1]) : std::nullopt;
}

std::vector<std::uint64_t> Executor::run_resident(std::size_t count) {
  if (submitted_) fail(ErrorCode::invalid_argument, "a run was submitted and not waited for");
  std::vector<std::uint64_t> times;
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    timeline_.submit(recording_);
    timeline_.wait();
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
    times.push_back(gpu_nanoseconds().value_or(static_cast<std::uint64_t>(elapsed.count())));
  }
  return times;
}

std::vector<std::uint64_t> Executor::profile() {
  if (submitted_) fail(ErrorCode::invalid_argument, "a run was submitted and not waited for");
  if (!profile_)
    profile_.emplace(record(device_, *program_, memory_, pipelines_, Timing::each_dispatch, Ports::host));
  timeline_.submit(*profile_);
  timeline_.wait();
  const std::vector<std::uint64_t> times = profile_->timestamps();
  std::vector<std::uint64_t> durations;
  for (std::size_t i = 1; i < times.size(); ++i) durations.push_back(times[i] - times[i - 1]);
  return durations;
}

}  // namespace lapilli
