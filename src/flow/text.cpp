// Strings.
#include <algorithm>
#include <array>

#include "flow/host_call.h"

namespace lapilli {

std::span<const HostOperator> text_operators() { return {}; }

}  // namespace lapilli
