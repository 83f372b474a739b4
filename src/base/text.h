#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

/// "[1, 3, 224, 224]"
std::string shape_text(std::span<const std::int64_t> shape);

/// The parts joined by `separator`.
std::string join(std::span<const std::string> parts, std::string_view separator);

/// A byte count for people: "512 B", "1.5 MiB".
std::string byte_text(std::uint64_t bytes);

}  // namespace lapilli
