#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "program/program.h"
#include "run/device_tensor.h"
#include "run/program_memory.h"
#include "run/resident_constants.h"
#include "vulkan/device.h"
#include "vulkan/recording.h"

namespace lapilli {

/// Runs one Program on one device, again and again: memory is taken and commands are recorded when it is made, and a
/// run only replays them. For one thread at a time; any number of Executors share a device and its constants.
///
/// Bytes of ports are dense row-major elements of the port's dtype, as Tensor has them.
class Executor {
 public:
  /// Compiles, uploads and records. Errors: what Device and ResidentConstants throw, with the node's name where one
  /// is to blame; with validation on, or in a debug build, what verify(program, traits) finds.
  Executor(const VulkanDevice& device, std::shared_ptr<ResidentConstants> constants,
           const std::shared_ptr<const Program>& program);

  Executor(Executor&&) noexcept = default;
  Executor& operator=(Executor&&) = delete;

  /// One run: inputs[i] is read for Program::inputs[i], outputs[i] is written for Program::outputs[i].
  /// Throws Error (invalid_argument) when a number or a size is wrong, (device_lost) when the driver gives up.
  void run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs);

  /// Names a run that was submitted and whose results were neither read nor dropped.
  using Ticket = std::uint64_t;
  static constexpr std::size_t most_under_way = 8;

  /// Starts a run behind those under way; the inputs may be reused once it returns. A run has ports of its own, which
  /// are taken when more runs than ever before are under way. Throws Error (limit_exceeded) past most_under_way.
  Ticket submit(std::span<const std::span<const std::byte>> inputs);
  /// The same with inputs that `fill` writes where the device reads them, port by port: dense row-major elements, to
  /// be written in order and not read. What it throws is passed on, and nothing is submitted.
  using FillPort = std::function<void(std::size_t port, std::span<std::byte> elements)>;
  Ticket submit(const FillPort& fill);
  /// The same with tensors, whose types and shapes are those of the ports.
  Ticket submit(std::span<const Tensor> inputs);
  [[nodiscard]] bool done(Ticket ticket) { return timeline_.reached(ticket); }
  /// Whether it is done, at the latest after `limit`.
  bool wait(Ticket ticket, std::chrono::nanoseconds limit) { return timeline_.wait(ticket, limit); }
  /// Waits for the run and reads its results; the ticket ends.
  void read(Ticket ticket, std::span<const std::span<std::byte>> outputs);
  /// The same into tensors. One that has the type and shape of its port, and elements that nobody shares, keeps its
  /// memory; the others are replaced.
  void read(Ticket ticket, std::span<Tensor> outputs);
  /// Nobody will read the results; the ticket ends.
  void drop(Ticket ticket) noexcept;

  /// One run whose results stay on the device. An input is bytes of the host, or a tensor that is on this device
  /// already.
  using Input = std::variant<std::span<const std::byte>, const DeviceTensor*>;
  std::vector<std::shared_ptr<const DeviceTensor>> run_on_device(std::span<const Input> inputs);

  /// Time on the device of the run read last, copies from and to staging included, or of the last run_on_device,
  /// without copies; nothing where the device has no clock.
  [[nodiscard]] std::optional<std::uint64_t> gpu_nanoseconds() const;

  /// The same for each submission that DeviceOptions::longest_submit cuts a run into.
  [[nodiscard]] std::vector<std::uint64_t> submit_nanoseconds() const;

  /// `count` runs one after the other with the inputs that are there from the last run (all zero bits or leftovers
  /// when there was none): the time of each on the device, or on the host's clock where the device has none. For
  /// benchmarks.
  std::vector<std::uint64_t> run_resident(std::size_t count);

  /// Nanoseconds of each dispatch, in the order of Program::steps, when each runs alone, from one more run with the
  /// inputs that are there. Their sum is more than a run takes: nothing overlaps. Empty where the device has no
  /// clock.
  std::vector<std::uint64_t> profile();

  [[nodiscard]] const Program& program() const noexcept { return *program_; }

  /// Device memory that this Executor alone takes.
  [[nodiscard]] std::uint64_t device_bytes() const noexcept;

 private:
  using Pipelines = std::vector<std::shared_ptr<const Pipeline>>;
  Executor(VulkanDevice device, std::shared_ptr<ResidentConstants> constants, std::shared_ptr<const Program> program,
           std::future<Pipelines> pipelines);

  // A place for one run: its memory, and the commands that use it.
  struct Berth {
    RunMemory memory;
    Recording recording;
    Ticket ticket = 0;  ///< of the last run here
    bool taken = false;
  };

  std::size_t add_berth();
  [[nodiscard]] std::size_t free_berth();
  [[nodiscard]] std::size_t berth_of(Ticket ticket) const;
  void come_to_rest();
  Ticket start(Berth& berth);
  [[nodiscard]] const Berth& finish(Ticket ticket);
  void place_inputs(std::span<const Input> inputs);

  VulkanDevice device_;
  std::shared_ptr<ResidentConstants> constants_;
  std::shared_ptr<const Program> program_;
  ProgramMemory memory_;
  std::vector<std::shared_ptr<const Pipeline>> pipelines_;
  std::vector<Berth> berths_;
  std::size_t last_read_ = 0;
  bool last_was_bare_ = false;
  std::optional<Recording> profile_, bare_, copies_in_;
  Timeline timeline_;  // last: it waits for the work that uses all the rest
};

}  // namespace lapilli
