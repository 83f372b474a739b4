#pragma once

#include <string>
#include <vector>

#include "ir/operator.h"
#include "plan/emission.h"
#include "plan/layout.h"
#include "vulkan/device.h"

namespace lapilli::testing {

/// The device of the tests, validation layers on: LAPILLI_TEST_DEVICE, or llvmpipe, without what
/// LAPILLI_TEST_LIMITS takes from it (restrictions.h).
const VulkanDevice& test_device();

/// One operator with its inputs. `layouts` says how inputs lie in device memory; row-major where it ends.
struct NodeCase {
  OperatorPointer op;
  std::vector<Tensor> inputs;  ///< an undefined one is left out
  std::vector<Layout> layouts;
  Precision precision = Precision::float32;
};

/// Plans, verifies and runs it on the test device. Outputs come back row-major, in the dtypes that are stored.
std::vector<Tensor> run_node(const NodeCase& node_case);

/// ||result - expected|| / ||expected||, or the norm of the difference where `expected` is all zero. Integers count 0
/// or 1: equal or not. Infinity when shapes differ, or where one is not a number or infinite and the other is not.
double relative_error(const Tensor& result, const Tensor& expected);

/// Runs the case twice and compares with the host's evaluation: expected shapes, dtypes, bits that do not change
/// between runs, and an error up to `tolerance` (integers exact), also where inputs and outputs are parts of larger
/// tensors; the validation layers have to be silent. Inputs of float32 are rounded to float16 first where that is the
/// precision.
void expect_matches_host(NodeCase node_case, double tolerance);

/// Elements drawn evenly from [low, high) by a fixed generator, converted to `dtype`.
Tensor random_tensor(DType dtype, std::vector<std::int64_t> shape, double low = -2, double high = 2,
                     std::uint32_t seed = 1);

Tensor float_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values);
Tensor integer_tensor(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values);
std::vector<float> floats_of(const Tensor& tensor);
std::vector<std::int64_t> integers_of(const Tensor& tensor);

}  // namespace lapilli::testing
