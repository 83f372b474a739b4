#include "ops/fused.h"

#include <format>

#include "base/failure.h"

namespace lapilli {

std::vector<Fact> FusedOperator::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const std::size_t own = own_input_count();
  const std::size_t needed = own + (epilogue_.empty() ? 0 : epilogue_.input_count - 1U);
  if (inputs.size() != needed)
    fail(ErrorCode::invalid_model, "{} inputs where {} takes {}", inputs.size(), name(), needed);
  std::vector<Fact> facts = infer_own(inputs.first(own), assumptions);
  if (epilogue_.empty()) return facts;
  for (const Fact& operand : inputs.subspan(own)) {
    const std::array shapes{facts[0].shape, operand.shape};
    if (broadcast(shapes, assumptions).size() != facts[0].shape.size()) {
      fail(ErrorCode::internal, "{} does not broadcast to {}", operand.to_string(), facts[0].to_string());
    }
  }
  if (output_dtype_ != DType::undefined) facts[0].dtype = output_dtype_;
  return facts;
}

std::vector<Tensor> FusedOperator::evaluate(std::span<const Tensor> inputs) const {
  std::vector<Tensor> results = evaluate_own(inputs.first(own_input_count()));
  if (results.empty() || epilogue_.empty()) return results;
  std::vector<Tensor> operands{results[0]};
  operands.insert(operands.end(), inputs.begin() + static_cast<std::ptrdiff_t>(own_input_count()), inputs.end());
  results[0] =
      evaluate_chain(epilogue_, operands, output_dtype_ == DType::undefined ? results[0].dtype() : output_dtype_);
  return results;
}

std::string FusedOperator::attributes() const {
  const std::string own = own_attributes();
  if (epilogue_.empty()) return own;
  return std::format("{}{}epilogue {}", own, own.empty() ? "" : ", ", epilogue_.to_string());
}

}  // namespace lapilli
