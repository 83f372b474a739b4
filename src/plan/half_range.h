#pragma once

#include "ir/graph.h"

namespace lapilli {

/// Whether a float32 value stays one where intermediate values are stored as float16: it comes from what easily
/// passes 65504, or has more digits than float16 (powers, sums, counts), and only goes where that becomes smaller
/// again.
bool needs_float32(const Graph& graph, ValueId value);

}  // namespace lapilli
