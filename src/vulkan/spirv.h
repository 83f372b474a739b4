#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Numbers of the SPIR-V specification, version 1.5, and its instructions one by one.
namespace lapilli::spirv {

using Id = std::uint32_t;
using Words = std::span<const std::uint32_t>;

constexpr std::size_t header_words = 5, bound_word = 3;

inline std::uint32_t opcode(Words instruction) { return instruction[0] & 0xFFFFU; }

inline std::vector<Words> instructions_of(Words spirv) {
  std::vector<Words> instructions;
  for (std::size_t at = header_words; at < spirv.size();) {
    const std::size_t length = std::max(spirv[at] >> 16U, 1U);
    instructions.push_back(spirv.subspan(at, std::min(length, spirv.size() - at)));
    at += length;
  }
  return instructions;
}

}  // namespace lapilli::spirv
