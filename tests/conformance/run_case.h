#pragma once

#include <string>

#include "conformance/test_case.h"
#include "lapilli/device.h"
#include "lapilli/model.h"

namespace lapilli::conformance {

/// Runs all data sets of a test through the engine. Returns what is wrong, empty when nothing is. Throws Error
/// (device_lost) only: the device cannot be used any more. With `compiled`, what is a single plan is also written to
/// a program file, whose results have to be the same to the bit.
std::string run_case(const TestCase& test, const Device& device, const ModelOptions& options, bool compiled = false);

}  // namespace lapilli::conformance
