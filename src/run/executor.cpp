#include "run/executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
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

std::shared_ptr<const Program> verified(const VulkanDevice& device, const std::shared_ptr<const Program>& program) {
  if (always_verify || device.validation()) verify(*program, device.traits());
  return program;
}

void check_count(const char* what, std::size_t given, const std::vector<Port>& ports) {
  if (given == ports.size()) return;
  fail(ErrorCode::invalid_argument, "the model has {} {}s, but {} are given", ports.size(), what, given);
}

template <class Span>
void check_sizes(const char* what, std::span<const Span> given, const std::vector<Port>& ports) {
  check_count(what, given.size(), ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::size_t bytes = byte_count(ports[i].dtype, element_count(ports[i].shape));
    if (given[i].size() != bytes) {
      fail(ErrorCode::invalid_argument, "{} {} has {} bytes, but {} are given", what, ports[i].name, bytes,
           given[i].size());
    }
  }
}

void check_tensors(std::span<const Tensor> given, const std::vector<Port>& ports) {
  check_count("input", given.size(), ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (given[i].dtype() == ports[i].dtype && given[i].shape() == ports[i].shape) continue;
    fail(ErrorCode::invalid_argument, "input {} is {}{}, but {}{} is given", ports[i].name, to_string(ports[i].dtype),
         shape_text(ports[i].shape), to_string(given[i].dtype()), shape_text(given[i].shape()));
  }
}

template <class Fill>
void write_port(const PortMemory& memory, const Fill& fill) {
  if (memory.bytes == 0) return;
  fill(memory.mapped());
  memory.host.buffer->flush(memory.host.offset, memory.bytes);
}

void write_port(const Port& port, std::span<const std::byte> bytes, const PortMemory& memory) {
  write_port(memory, [&](std::span<std::byte> to) { copy_to_device(port.dtype, bytes, to); });
}

void read_port(const Port& port, const PortMemory& memory, std::span<std::byte> bytes) {
  if (memory.bytes == 0) return;
  memory.host.buffer->invalidate(memory.host.offset, memory.bytes);
  copy_from_device(port.dtype, memory.mapped(), bytes);
}

}  // namespace

// Pipelines are compiled while weights are uploaded.
Executor::Executor(const VulkanDevice& device, std::shared_ptr<ResidentConstants> constants,
                   const std::shared_ptr<const Program>& program)
    : Executor(device, std::move(constants), verified(device, program),
               std::async([device, program] { return make_pipelines(device, *program); })) {}

Executor::Executor(VulkanDevice device, std::shared_ptr<ResidentConstants> constants,
                   std::shared_ptr<const Program> program, std::future<Pipelines> pipelines)
    : device_(std::move(device)),
      constants_(std::move(constants)),
      program_(std::move(program)),
      memory_(device_, *constants_, *program_),
      pipelines_(pipelines.get()),
      timeline_(device_) {
  berths_.reserve(most_under_way);
  add_berth();
}

std::size_t Executor::add_berth() {
  RunMemory memory(device_, *program_, memory_);
  Recording recording = record(device_, *program_, memory, pipelines_, Timing::whole_run, Ports::host);
  berths_.push_back({std::move(memory), std::move(recording)});
  return berths_.size() - 1;
}

// Results that were dropped may still be in the making.
std::size_t Executor::free_berth() {
  for (std::size_t i = 0; i < berths_.size(); ++i) {
    if (!berths_[i].taken && timeline_.reached(berths_[i].ticket)) return i;
  }
  if (berths_.size() < most_under_way) return add_berth();
  for (std::size_t i = 0; i < berths_.size(); ++i) {
    if (berths_[i].taken) continue;
    timeline_.wait(berths_[i].ticket);
    return i;
  }
  fail(ErrorCode::limit_exceeded, "{} runs are under way; read the results of one before another is submitted",
       most_under_way);
}

std::size_t Executor::berth_of(Ticket ticket) const {
  const auto found =
      std::ranges::find_if(berths_, [&](const Berth& berth) { return berth.taken && berth.ticket == ticket; });
  if (found == berths_.end())
    fail(ErrorCode::invalid_argument, "the results of this run were read or dropped before");
  return static_cast<std::size_t>(found - berths_.begin());
}

void Executor::come_to_rest() {
  if (std::ranges::any_of(berths_, &Berth::taken)) {
    fail(ErrorCode::invalid_argument, "a run was submitted and its results were not read");
  }
  timeline_.wait();
}

void Executor::run(std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) {
  check_sizes("output", outputs, program_->outputs);
  read(submit(inputs), outputs);
}

Executor::Ticket Executor::submit(std::span<const std::span<const std::byte>> inputs) {
  check_sizes("input", inputs, program_->inputs);
  Berth& berth = berths_[free_berth()];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    write_port(program_->inputs[i], inputs[i], berth.memory.inputs()[i]);
  }
  return start(berth);
}

Executor::Ticket Executor::submit(const FillPort& fill) {
  Berth& berth = berths_[free_berth()];
  for (std::size_t i = 0; i < program_->inputs.size(); ++i) {
    const Port& port = program_->inputs[i];
    const PortMemory& memory = berth.memory.inputs()[i];
    if (is_packed(port.dtype)) {
      std::vector<std::byte> packed(byte_count(port.dtype, element_count(port.shape)));
      fill(i, packed);
      write_port(port, packed, memory);
    } else {
      write_port(memory, [&](std::span<std::byte> to) { fill(i, to); });
    }
  }
  return start(berth);
}

Executor::Ticket Executor::submit(std::span<const Tensor> inputs) {
  check_tensors(inputs, program_->inputs);
  Berth& berth = berths_[free_berth()];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    write_port(program_->inputs[i], inputs[i].bytes(), berth.memory.inputs()[i]);
  }
  return start(berth);
}

Executor::Ticket Executor::start(Berth& berth) {
  berth.ticket = timeline_.submit(berth.recording);
  berth.taken = true;
  return berth.ticket;
}

const Executor::Berth& Executor::finish(Ticket ticket) {
  last_read_ = berth_of(ticket);
  last_was_bare_ = false;
  Berth& berth = berths_[last_read_];
  berth.taken = false;
  timeline_.wait(ticket);
  return berth;
}

void Executor::read(Ticket ticket, std::span<const std::span<std::byte>> outputs) {
  check_sizes("output", outputs, program_->outputs);
  const Berth& berth = finish(ticket);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    read_port(program_->outputs[i], berth.memory.outputs()[i], outputs[i]);
  }
}

void Executor::read(Ticket ticket, std::span<Tensor> outputs) {
  check_count("output", outputs.size(), program_->outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = program_->outputs[i];
    if (outputs[i].dtype() == port.dtype && outputs[i].shape() == port.shape && outputs[i].sole_owner()) continue;
    outputs[i] = Tensor::allocate(port.dtype, port.shape);
  }
  const Berth& berth = finish(ticket);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    read_port(program_->outputs[i], berth.memory.outputs()[i], outputs[i].mutable_bytes());
  }
}

void Executor::drop(Ticket ticket) noexcept {
  for (Berth& berth : berths_) {
    if (berth.ticket == ticket) berth.taken = false;
  }
}

std::uint64_t Executor::device_bytes() const noexcept {
  std::uint64_t total = memory_.device_bytes();
  for (const Berth& berth : berths_) total += berth.memory.device_bytes();
  return total;
}

// Bytes of the host are there when this returns; copies on the device are submitted.
void Executor::place_inputs(std::span<const Input> inputs) {
  const RunMemory& memory = berths_.front().memory;
  std::vector<Upload> uploads;
  copies_in_.emplace(device_, RecordingSize{});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PortMemory& port = memory.inputs().at(i);
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
      const auto fill = [bytes, dtype](std::span<std::byte> to, std::size_t /*part*/) {
        copy_to_device(dtype, bytes, to);
      };
      uploads.push_back({port.device, fill, 1, {}});
    }
  }
  copies_in_->barrier(Stage::transfer, Stage::compute);
  copies_in_->finish();
  upload(device_, uploads);
  timeline_.submit(*copies_in_);
}

std::vector<std::shared_ptr<const DeviceTensor>> Executor::run_on_device(std::span<const Input> inputs) {
  come_to_rest();
  if (inputs.size() != program_->inputs.size()) {
    fail(ErrorCode::invalid_argument, "the model has {} inputs, but {} are given", program_->inputs.size(),
         inputs.size());
  }
  const RunMemory& memory = berths_.front().memory;
  if (!bare_) bare_.emplace(record(device_, *program_, memory, pipelines_, Timing::whole_run, Ports::device));
  std::vector<std::shared_ptr<const DeviceTensor>> outputs;
  Recording copies_out(device_, {});
  copies_out.barrier(Stage::compute, Stage::transfer);
  for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
    const Port& port = program_->outputs[i];
    outputs.push_back(std::make_shared<const DeviceTensor>(device_, port.dtype, port.shape));
    if (memory.outputs()[i].bytes != 0) copies_out.copy(memory.outputs()[i].device, outputs.back()->range());
  }
  copies_out.barrier(Stage::transfer, Stage::host | Stage::transfer);
  copies_out.finish();
  place_inputs(inputs);
  timeline_.submit(*bare_);
  timeline_.submit(copies_out);
  timeline_.wait();
  last_was_bare_ = true;
  return outputs;
}

std::optional<std::uint64_t> Executor::gpu_nanoseconds() const {
  const std::vector<std::uint64_t> times =
      last_was_bare_ ? bare_->timestamps() : berths_[last_read_].recording.timestamps();
  return times.size() >= 2 ? std::optional(times.back()) : std::nullopt;
}

std::vector<std::uint64_t> Executor::submit_nanoseconds() const {
  const std::vector<std::uint64_t> times =
      last_was_bare_ ? bare_->timestamps() : berths_[last_read_].recording.timestamps();
  std::vector<std::uint64_t> durations;
  for (std::size_t i = 1; i < times.size(); ++i) durations.push_back(times[i] - times[i - 1]);
  return durations;
}

std::vector<std::uint64_t> Executor::run_resident(std::size_t count) {
  come_to_rest();
  last_read_ = 0;
  last_was_bare_ = false;
  std::vector<std::uint64_t> times;
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    timeline_.submit(berths_.front().recording);
    timeline_.wait();
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
    times.push_back(gpu_nanoseconds().value_or(static_cast<std::uint64_t>(elapsed.count())));
  }
  return times;
}

std::vector<std::uint64_t> Executor::profile() {
  come_to_rest();
  if (!profile_) {
    profile_.emplace(
        record(device_, *program_, berths_.front().memory, pipelines_, Timing::each_dispatch, Ports::host));
  }
  timeline_.submit(*profile_);
  timeline_.wait();
  const std::vector<std::uint64_t> times = profile_->timestamps();
  std::vector<std::uint64_t> durations;
  for (std::size_t i = 1; i < times.size(); ++i) durations.push_back(times[i] - times[i - 1]);
  return durations;
}

}  // namespace lapilli
