#pragma once

#include <string_view>

#include "lapilli/device_options.h"

namespace lapilli {

/// Takes away what a text names, as tests are told on a command line: a feature, such as "no_int64", or a limit with
/// its value, such as "max_groups=64"; several with commas between them. Names are those of DeviceRestrictions.
/// Throws Error (invalid_argument) that lists the names.
void restrict_device(DeviceRestrictions& restrictions, std::string_view text);

}  // namespace lapilli
