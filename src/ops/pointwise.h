#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/operator.h"

namespace lapilli {

enum class PointwiseFunction : std::uint8_t {
#define FUNCTION(name, code, arguments) name = (code),
#include "ops/pointwise_functions.def"
#undef FUNCTION
};

std::string_view to_string(PointwiseFunction function) noexcept;
int argument_count(PointwiseFunction function) noexcept;

/// A number in a chain: a double or an integer, by the dtype of the step that uses it.
struct Immediate {
  DType dtype = DType::float32;
  double real = 0;           ///< of floating-point dtypes
  std::int64_t integer = 0;  ///< of integers and bool

  static Immediate of(double value) { return {DType::float32, value, 0}; }
  static Immediate of_integer(DType dtype, std::int64_t value) { return {dtype, 0, value}; }
  /// The only element of a tensor of one element.
  static Immediate of_tensor(const Tensor& tensor);
  friend bool operator==(const Immediate&, const Immediate&) = default;
};

/// Whether the function changes the type of its argument: to `dtype` of the step. `cast` rounds to nearest, and what
/// is past the largest number of a type of 8 bits or fewer becomes that number; `cast_unsaturated` makes infinity or
/// not-a-number of it.
constexpr bool is_cast(PointwiseFunction function) noexcept {
  return function == PointwiseFunction::cast || function == PointwiseFunction::cast_unsaturated;
}

/// One step: a function on one element of each argument.
///
/// `dtype` is the type of the arguments (of the second and third, for select, whose first is bool; of the result, for
/// cast). Comparisons, is_* and logical functions give bool, every other function gives `dtype`.
/// An argument below the number of inputs is an input, then come the immediates, then the results of earlier steps.
struct PointwiseStep {
  PointwiseFunction function = PointwiseFunction::identity;
  DType dtype = DType::float32;
  std::array<std::uint8_t, 3> arguments{0, 0, 0};
  friend bool operator==(const PointwiseStep&, const PointwiseStep&) = default;
};

/// Whether the code of the step is long: float64 without a simple formula, floats of 8 bits and fewer, and remainders
/// of floats. The kernels of contractions go without such steps.
bool is_lengthy(const PointwiseStep& step) noexcept;

/// The dtype of a step's result.
DType result_dtype(const PointwiseStep& step) noexcept;

/// What happens to an element between load and store: a short program over inputs that are broadcast to one shape.
/// An empty one passes its first input on.
struct PointwiseChain {
  std::uint8_t input_count = 1;
  std::vector<Immediate> immediates;
  std::vector<PointwiseStep> steps;

  /// Appends a step; returns what later steps call its result.
  std::uint8_t add(PointwiseFunction function, DType dtype, std::array<std::uint8_t, 3> arguments);
  /// Appends an immediate; only before the first step.
  std::uint8_t add(Immediate immediate);
  [[nodiscard]] std::uint8_t first_step() const noexcept {
    return static_cast<std::uint8_t>(input_count + immediates.size());
  }
  [[nodiscard]] bool empty() const noexcept { return steps.empty(); }
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PointwiseChain&, const PointwiseChain&) = default;
};

/// The largest chains that kernels take.
struct ChainLimits {
  std::size_t inputs, immediates, steps;
};
constexpr ChainLimits pointwise_limits{.inputs = 6, .immediates = 8, .steps = 16};
/// Of an epilogue, the accumulator included.
constexpr ChainLimits epilogue_limits{.inputs = 4, .immediates = 8, .steps = 8};

bool fits(const PointwiseChain& chain, const ChainLimits& limits) noexcept;

/// `second` applied to the result of `first`, which is its input `position`; its other inputs follow those of
/// `first`. `mapping[i]` is the index of second's input i in the result (unused at `position`).
struct JoinedChain {
  PointwiseChain chain;
  std::vector<std::uint8_t> mapping;
};
JoinedChain join_chains(const PointwiseChain& first, const PointwiseChain& second, std::uint8_t position);

/// The chain with its input `position` replaced by a number; later inputs move up by one.
PointwiseChain with_immediate(const PointwiseChain& chain, std::uint8_t position, Immediate immediate);

/// The shape that all shapes broadcast to, by the rules of NumPy. Throws Error (invalid_model).
Shape broadcast(std::span<const Shape> shapes, Assumptions& assumptions);

/// Evaluates a chain at every element of the broadcast shape. Inputs of any dtype but string; views need not be
/// aligned.
Tensor evaluate_chain(const PointwiseChain& chain, std::span<const Tensor> inputs, DType output_dtype);

/// All element-by-element operators: a chain over inputs of any number, broadcast to one shape.
class Pointwise final : public Operator {
 public:
  Pointwise(PointwiseChain chain, DType output_dtype) : chain_(std::move(chain)), output_dtype_(output_dtype) {}

  [[nodiscard]] std::string_view name() const override { return "Pointwise"; }
  [[nodiscard]] std::string attributes() const override { return chain_.to_string(); }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  [[nodiscard]] const PointwiseChain& chain() const noexcept { return chain_; }
  [[nodiscard]] DType output_dtype() const noexcept { return output_dtype_; }

 private:
  PointwiseChain chain_;
  DType output_dtype_;
};

/// A chain of one function; its arguments are the inputs in their order, then the immediates.
OperatorPointer make_pointwise(PointwiseFunction function, DType dtype, std::uint8_t inputs,
                               std::vector<Immediate> immediates = {});

}  // namespace lapilli
