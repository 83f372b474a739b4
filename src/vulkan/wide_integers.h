#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli {

/// A SPIR-V module without 64-bit integers: each is a vector of two words, the lower one first, which lie in memory
/// as the integer did, and what computes with them calls functions of `helpers`, the module of
/// src/kernels/wide_integers.comp. Results are the same to the bit. A module that declares no 64-bit integers comes
/// back as it is. Throws Error (internal) for an instruction on them that no kernel has.
std::vector<std::uint32_t> without_wide_integers(std::span<const std::uint32_t> spirv,
                                                 std::span<const std::uint32_t> helpers);

}  // namespace lapilli
