#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/buffer.h"
#include "vulkan/device.h"
#include "vulkan/pipeline.h"

namespace lapilli {

/// Workgroups of a dispatch: from `first` on.
struct GroupRange {
  std::array<std::uint32_t, 3> first{0, 0, 0}, count{1, 1, 1};
};

/// What a Recording needs room for.
struct RecordingSize {
  std::uint32_t dispatches = 0;
  std::uint32_t storage_buffers = 0, uniform_buffers = 0;  ///< bound by all dispatches together
  std::uint32_t timestamps = 0;
};

/// Who touches memory before or after a barrier. Bits, to be or-ed.
enum class Stage : std::uint8_t { host = 1, transfer = 2, compute = 4 };
constexpr Stage operator|(Stage a, Stage b) { return static_cast<Stage>(static_cast<int>(a) | static_cast<int>(b)); }

/// Command buffers, one as a rule, that are recorded once and submitted many times, with their descriptor sets and
/// timestamps. Buffers and pipelines it names must outlive it, as must the end of its execution. For one thread at a
/// time.
class Recording {
 public:
  Recording(const VulkanDevice& device, const RecordingSize& size);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  /// Range i is bound to binding number i. Throws Error (internal) when number or sizes do not fit the kernel.
  void dispatch(const Pipeline& pipeline, std::span<const BufferRange> bindings,
                std::span<const std::uint32_t> push_constants, const GroupRange& groups);

  /// What follows is another submission to the device. Barriers reach across.
  void cut();

  /// What stages `before` wrote is complete and visible to stages `after`, and what they read may be overwritten.
  void barrier(Stage before, Stage after);

  void copy(const BufferRange& from, const BufferRange& to);

  /// Notes the time at which all commands before it are complete.
  void timestamp();

  /// No command may follow.
  void finish();

  /// Nanoseconds from the first timestamp to each one, in the order of recording, of the last execution, which must
  /// have ended. Empty when the device has no clock.
  [[nodiscard]] std::vector<std::uint64_t> timestamps() const;

 private:
  friend class Timeline;
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

/// Submits recordings and waits for them. For one thread at a time; any number of them share a device.
class Timeline {
 public:
  explicit Timeline(const VulkanDevice& device);
  Timeline(Timeline&&) noexcept;
  Timeline& operator=(Timeline&&) noexcept;
  /// Waits for what was submitted.
  ~Timeline();

  /// Starts the recording, after all that was submitted before; it must not be under way. Returns the number of this
  /// submission, one more than that of the last. Throws Error (device_lost).
  std::uint64_t submit(const Recording& recording);

  /// Whether submission `number`, and so every earlier one, is complete. Throws Error (device_lost).
  [[nodiscard]] bool reached(std::uint64_t number);

  /// Returns when it is complete or `limit` has passed, and whether it is complete: polls for some tens of
  /// microseconds, since waking from a wait takes about that long, and sleeps from then on. Throws Error
  /// (device_lost).
  bool wait(std::uint64_t number, std::chrono::nanoseconds limit = std::chrono::nanoseconds::max());

  /// Returns when all that was submitted is complete.
  void wait();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace lapilli
