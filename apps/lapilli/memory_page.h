#pragma once

#include <string>
#include <string_view>

#include "lapilli/model.h"

namespace lapilli::program {

/// A page of HTML that needs nothing else: the arena's tensors as bars over levels and addresses. The title and the
/// names come from the model and are escaped.
std::string memory_page(const PlanSummary& plan, std::string_view title);

}  // namespace lapilli::program
