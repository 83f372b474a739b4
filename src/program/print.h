#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace lapilli {

/// One line for each step: kernel, workgroups, byte ranges, and the model's nodes that it comes from.
std::vector<std::string> step_lines(const Program& program);

}  // namespace lapilli
