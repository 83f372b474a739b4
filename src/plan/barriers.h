#pragma once

#include <vector>

#include "program/program.h"

namespace lapilli {

/// The dispatches in their order, with a barrier in front of each one that touches bytes which an earlier one, since
/// the last barrier, writes, or writes bytes which an earlier one reads.
/// Stripes of one tensor that are apart need none.
std::vector<Step> insert_barriers(std::vector<Dispatch> dispatches);

}  // namespace lapilli
