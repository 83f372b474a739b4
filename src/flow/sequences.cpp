// Sequences and optionals: handles that only the host moves.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "flow/host_call.h"
#include "flow/host_tensors.h"

namespace lapilli {
namespace {

constexpr std::string_view moves = "sequences and optionals are the host's";

Tensor scalar(DType dtype, std::int64_t value) {
  Tensor tensor = Tensor::allocate(dtype, {});
  if (dtype == DType::int64) {
    tensor.mutable_elements<std::int64_t>()[0] = value;
  } else {
    tensor.mutable_bytes()[0] = std::byte{value != 0};
  }
  return tensor;
}

// A position of a sequence; negative ones count from its end.
std::ptrdiff_t position_of(std::int64_t position, std::size_t size, bool after_last) {
  const auto count = static_cast<std::int64_t>(size);
  if (position < -count || position > count || (position == count && !after_last)) {
    fail(ErrorCode::invalid_model, "position {} of a sequence of {} elements", position, count);
  }
  return position < 0 ? position + count : position;
}

void make_empty(HostCall& call) { call.set_output(0, Value::sequence({})); }

void construct(HostCall& call) {
  std::vector<Value> elements;
  for (std::size_t i = 0; i < call.input_count(); ++i) elements.push_back(call.input(i));
  call.set_output(0, Value::sequence(std::move(elements)));
}

void insert(HostCall& call) {
  std::vector<Value> elements = call.elements(0);
  const auto size = static_cast<std::int64_t>(elements.size());
  const std::ptrdiff_t at = position_of(call.has_input(2) ? call.integer(2) : size, elements.size(), true);
  elements.insert(elements.begin() + at, call.input(1));
  call.set_output(0, Value::sequence(std::move(elements)));
}

void erase(HostCall& call) {
  std::vector<Value> elements = call.elements(0);
  elements.erase(elements.begin() + position_of(call.has_input(1) ? call.integer(1) : -1, elements.size(), false));
  call.set_output(0, Value::sequence(std::move(elements)));
}

void at(HostCall& call) {
  const std::vector<Value>& elements = call.elements(0);
  call.set_output(0, elements[static_cast<std::size_t>(position_of(call.integer(1), elements.size(), false))]);
}

void length(HostCall& call) {
  call.set_output(0, scalar(DType::int64, static_cast<std::int64_t>(call.elements(0).size())));
}

// The sizes of the pieces along the axis; nothing for pieces of one without that axis.
std::vector<std::int64_t> piece_sizes(const HostCall& call, std::int64_t whole) {
  std::vector<std::int64_t> sizes;
  if (!call.has_input(1)) return std::vector<std::int64_t>(static_cast<std::size_t>(whole), 1);
  const Tensor& split = call.tensor(1);
  if (split.shape().empty()) {
    const std::int64_t size = HostCall::integer_of(split);
    if (size <= 0) fail(ErrorCode::invalid_model, "a split into pieces of {}", size);
    for (std::int64_t first = 0; first < whole; first += size) sizes.push_back(std::min(size, whole - first));
    return sizes;
  }
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < split.element_count(); ++i) {
    sizes.push_back(HostCall::integer_of(cut_tensor(split, 0, i, 1)));
    if (sizes.back() < 0 || sizes.back() > whole - sum) {
      fail(ErrorCode::invalid_model, "a piece of {} where {} are left", sizes.back(), whole - sum);
    }
    sum += sizes.back();
  }
  if (sum != whole) fail(ErrorCode::invalid_model, "pieces of {} in all, but the axis has {}", sum, whole);
  return sizes;
}

void split(HostCall& call) {
  const Tensor& tensor = call.tensor(0);
  const std::size_t axis = axis_of(call.attribute<std::int64_t>("axis", 0), tensor.shape().size());
  const bool keeps = call.has_input(1) || call.attribute<std::int64_t>("keepdims", 1) != 0;
  std::vector<Value> pieces;
  std::int64_t first = 0;
  for (const std::int64_t size : piece_sizes(call, tensor.shape()[axis])) {
    Tensor piece = cut_tensor(tensor, axis, first, size);
    if (!keeps) {
      std::vector<std::int64_t> shape = piece.shape();
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      piece = piece.reshaped(std::move(shape));
    }
    pieces.emplace_back(std::move(piece));
    first += size;
  }
  call.set_output(0, Value::sequence(std::move(pieces)));
}

void concatenate(HostCall& call) {
  std::vector<Tensor> tensors;
  for (const Value& element : call.elements(0)) tensors.push_back(element.tensor());
  const bool new_axis = call.attribute<std::int64_t>("new_axis", 0) != 0;
  if (call.node().find_attribute("axis") == nullptr) fail(ErrorCode::invalid_model, "the attribute axis is missing");
  call.set_output(0, join_tensors(tensors, call.attribute<std::int64_t>("axis", 0), new_axis));
}

void make_optional(HostCall& call) { call.set_output(0, call.has_input(0) ? call.input(0) : Value()); }

void has_element(HostCall& call) {
  call.set_output(0, scalar(DType::boolean, call.has_input(0) && !call.input(0).empty() ? 1 : 0));
}

void get_element(HostCall& call) {
  if (call.input(0).empty()) fail(ErrorCode::invalid_argument, "the optional has no element");
  call.set_output(0, call.input(0));
}

void pass_on(HostCall& call) { call.set_output(0, call.input(0)); }

constexpr std::array operators{
    HostOperator{"SequenceEmpty", 11, make_empty, moves},
    HostOperator{"SequenceConstruct", 11, construct, moves},
    HostOperator{"SequenceInsert", 11, insert, moves},
    HostOperator{"SequenceErase", 11, erase, moves},
    HostOperator{"SequenceAt", 11, at, moves},
    HostOperator{"SequenceLength", 11, length, moves},
    HostOperator{"SplitToSequence", 11, split, moves},
    HostOperator{"ConcatFromSequence", 11, concatenate, moves},
    HostOperator{"Optional", 15, make_optional, moves},
    HostOperator{"OptionalHasElement", 15, has_element, moves},
    HostOperator{"OptionalGetElement", 15, get_element, moves},
    HostOperator{"Identity", 1, pass_on, moves},
};

}  // namespace

std::span<const HostOperator> sequence_operators() { return operators; }

}  // namespace lapilli
