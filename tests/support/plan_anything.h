#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "program/device_traits.h"

namespace lapilli {

/// How far a model came on its way to a Program.
enum class Reached : std::uint8_t { refused, read, planned };

/// Reads the bytes as a model and plans it for a device, with each named size at `size`. What is wrong with the bytes
/// is refused; every other exception leaves, Error (internal), which says that Lapilli itself is wrong, among them.
Reached plan_anything(std::span<const std::byte> bytes, const DeviceTraits& traits, std::int64_t size, bool optimise);

}  // namespace lapilli
