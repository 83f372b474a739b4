#include "plan/epilogue.h"

#include <algorithm>
#include <array>

#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {

std::vector<NestOperand> epilogue_operands(const FusedOperator& op, const Node& node, Emission& emission) {
  const Graph& graph = emission.graph();
  const Shape& shape = graph.fact(node.outputs[0]).shape;
  std::vector<NestOperand> operands;
  for (std::size_t i = op.own_input_count(); i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    operands.push_back(
        broadcast_operand(emission.placement(input), graph.fact(input).shape, shape, emission.assumptions()));
  }
  return operands;
}

EncodedChain encode_epilogue(const PointwiseChain& chain, DType result, std::span<const NestOperand> operands) {
  std::vector<DType> dtypes{result};
  for (const NestOperand& operand : operands) dtypes.push_back(operand.dtype);
  return encode_chain(chain, dtypes, epilogue_limits.steps);
}

std::vector<StorageAccess> epilogue_bindings(const LoopNest& nest, std::size_t operand_count) {
  std::vector<StorageAccess> bindings{access_of(nest.output, Access::write)};
  for (const NestOperand& input : std::span(nest.inputs).first(1 + operand_count)) {
    bindings.push_back(access_of(input, Access::read));
  }
  bindings.resize(2 + most_epilogue_operands, bindings.back());
  return bindings;
}

ElementDispatch::ElementDispatch(std::string kernel, LoopNest nest, const FusedOperator& op, const Node& node,
                                 DType held, std::uint32_t invocations, Emission& emission)
    : nest_(std::move(nest)),
      operand_count_(node.inputs.size() - op.own_input_count()),
      invocations_(invocations),
      emission_(emission) {
  merge_loops(nest_, emission.assumptions().sizes());
  parts_ = cut_to_kernel_loops(nest_, nest_.sizes.size(), emission);
  if (!parts_.empty()) nest_ = parts_.front();
  count_ = element_count(nest_.sizes);
  chain_ = encode_epilogue(op.epilogue(), held, std::span(nest_.inputs).subspan(1, operand_count_));
  dispatch_.kernel = std::move(kernel);
  dispatch_.capabilities = std::max(chain_.level, level_of(nest_.output.dtype));
  for (const NestOperand& input : nest_.inputs) {
    // Operands without a type only find numbers.
    if (input.dtype != DType::undefined) {
      dispatch_.capabilities = std::max(dispatch_.capabilities, level_of(input.dtype));
    }
  }
  dispatch_.bindings = epilogue_bindings(nest_, operand_count_);
  before_.value(count_);
}

std::uint32_t ElementDispatch::operand_dtypes() const {
  return packed_dtypes(std::span(nest_.inputs).subspan(1, operand_count_));
}

void ElementDispatch::emit(std::span<const std::uint32_t> constants) {
  dispatch_.specialization.assign(constants.begin(), constants.end());
  dispatch_.specialization.insert(dispatch_.specialization.end(), chain_.constants.begin(), chain_.constants.end());
  write_divisors(nest_.sizes, after_);
  dispatch_.work = count_ * Dim(work_of_element_);
  dispatch_.groups = Dim::ceil_divide(count_, std::int64_t{invocations_});
  const std::vector<ParameterWord> before = before_.take(), after = after_.take();
  for (const LoopNest& part : parts_) {
    ParameterWriter operands;
    write_operand(part.output, operands);
    for (const NestOperand& input : part.inputs) write_operand(input, operands);
    SymbolicDispatch dispatch = dispatch_;
    dispatch.parameters = before;
    for (const std::vector<ParameterWord>& words : {operands.take(), after, chain_.immediates}) {
      dispatch.parameters.insert(dispatch.parameters.end(), words.begin(), words.end());
    }
    emission_.add_dispatch(std::move(dispatch));
  }
}

}  // namespace lapilli
