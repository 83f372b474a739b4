#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli {

/// A SPIR-V module without what its specialization constants rule out: branches that they decide, then functions that
/// nothing calls any more, and names. Constants without a value in `values`, by constant_id, keep their default. The
/// constants themselves stay, so the result takes the same specialization.
///
/// Drivers do this too, but many only after they have inlined every call, of which most would have gone: Mesa makes
/// pipelines of our kernels several times as fast from what is left.
std::vector<std::uint32_t> without_dead_branches(std::span<const std::uint32_t> spirv,
                                                 std::span<const std::uint32_t> values);

}  // namespace lapilli
