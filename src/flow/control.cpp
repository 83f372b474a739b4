// If, Loop, Scan and SequenceMap: the host decides what runs next.
#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.h"
#include "base/text.h"
#include "flow/host_call.h"
#include "flow/host_tensors.h"

namespace lapilli {
namespace {

constexpr std::string_view decides = "the host decides what runs next";

Tensor boolean_tensor(bool value) {
  Tensor tensor = Tensor::allocate(DType::boolean, {});
  tensor.mutable_bytes()[0] = std::byte{value};
  return tensor;
}

Tensor integer_tensor(std::int64_t value) {
  Tensor tensor = Tensor::allocate(DType::int64, {});
  tensor.mutable_elements<std::int64_t>()[0] = value;
  return tensor;
}

// What a graph gives where it never runs: no rows, of the type that it declares.
Tensor empty_result(const onnx::ValueInfo& info, std::int64_t axis) {
  if (info.type.kind != onnx::Type::Kind::tensor || info.type.dtype == DType::undefined) {
    fail(ErrorCode::unsupported, "output '{}' of a body that never runs has no declared type", info.name);
  }
  std::vector<std::int64_t> shape;
  if (info.type.shape) {
    for (const onnx::Dimension& dimension : *info.type.shape) shape.push_back(dimension.size.value_or(0));
  }
  const std::size_t at = info.type.shape ? axis_of(axis, shape.size() + 1) : 0;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 0);
  return Tensor::allocate(info.type.dtype, std::move(shape));
}

// The results of all turns, one behind the other along a new axis.
Tensor stacked(const std::vector<Tensor>& turns, const onnx::ValueInfo& info, std::int64_t axis) {
  if (turns.empty()) return empty_result(info, axis);
  return join_tensors(turns, axis, true);
}

void run_if(HostCall& call) {
  const bool holds = HostCall::boolean_of(call.tensor(0));
  std::vector<Value> results = call.run(call.graph(holds ? "then_branch" : "else_branch"), {});
  if (results.size() < call.output_count()) {
    fail(ErrorCode::invalid_model, "the branch that is taken has {} outputs, but the node has {}", results.size(),
         call.output_count());
  }
  for (std::size_t i = 0; i < results.size(); ++i) call.set_output(i, std::move(results[i]));
}

void run_loop(HostCall& call) {
  const onnx::Graph& body = call.graph("body");
  const std::size_t carried = call.input_count() < 2 ? 0 : call.input_count() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1) {
    fail(ErrorCode::invalid_model, "the body has {} inputs and {} outputs where {} values are carried",
         body.inputs.size(), body.outputs.size(), carried);
  }
  const std::int64_t most = call.has_input(0) ? call.integer(0) : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !call.has_input(1) || HostCall::boolean_of(call.tensor(1));
  std::vector<Value> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(call.input(2 + i));
  std::vector<std::vector<Tensor>> scans(body.outputs.size() - 1 - carried);
  for (std::int64_t turn = 0; turn < most && goes_on; ++turn) {
    std::vector<Value> inputs{integer_tensor(turn), boolean_tensor(goes_on)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Value> results = call.run(body, std::move(inputs));
    goes_on = HostCall::boolean_of(results[0].tensor());
    for (std::size_t i = 0; i < carried; ++i) state[i] = std::move(results[1 + i]);
    for (std::size_t i = 0; i < scans.size(); ++i) scans[i].push_back(results[1 + carried + i].tensor());
  }
  for (std::size_t i = 0; i < carried; ++i) call.set_output(i, std::move(state[i]));
  for (std::size_t i = 0; i < scans.size(); ++i) {
    call.set_output(carried + i, stacked(scans[i], body.outputs[1 + carried + i], 0));
  }
}

/// Runs a body over rows of its inputs.
class Scanner {
 public:
  using Integers = std::vector<std::int64_t>;

  Scanner(const HostCall& call, std::size_t scanned, std::size_t states)
      : call_(call), body_(call.graph("body")), scanned_(scanned), states_(states) {
    if (body_.inputs.size() != states_ + scanned_ || body_.outputs.size() < states_) {
      fail(ErrorCode::invalid_model,
           "the body has {} inputs and {} outputs where {} values are carried and {} scanned", body_.inputs.size(),
           body_.outputs.size(), states_, scanned_);
    }
    input_axes_ = call.attribute<Integers>("scan_input_axes", Integers(scanned_, 0));
    input_directions_ = call.attribute<Integers>("scan_input_directions", Integers(scanned_, 0));
    output_axes_ = call.attribute<Integers>("scan_output_axes", Integers(results(), 0));
    output_directions_ = call.attribute<Integers>("scan_output_directions", Integers(results(), 0));
    if (input_axes_.size() != scanned_ || input_directions_.size() != scanned_ || output_axes_.size() != results() ||
        output_directions_.size() != results()) {
      fail(ErrorCode::invalid_model, "axes or directions are not as many as the scanned values");
    }
    for (const Integers& directions : {input_directions_, output_directions_}) {
      for (const std::int64_t direction : directions) {
        if (direction != 0 && direction != 1)
          fail(ErrorCode::invalid_model, "direction {} is neither 0 nor 1", direction);
      }
    }
  }

  [[nodiscard]] std::size_t results() const { return body_.outputs.size() - states_; }

  // The states at the end, then the results.
  std::vector<Value> run(std::vector<Value> states, const std::vector<Tensor>& scanned, std::int64_t turns) {
    std::vector<std::vector<Tensor>> rows(results());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      std::vector<Value> inputs = states;
      for (std::size_t i = 0; i < scanned_; ++i) inputs.emplace_back(row(scanned[i], i, turn, turns));
      std::vector<Value> outputs = call_.run(body_, std::move(inputs));
      for (std::size_t i = 0; i < states_; ++i) states[i] = std::move(outputs[i]);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(outputs[states_ + i].tensor());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (output_directions_[i] != 0) std::ranges::reverse(rows[i]);
      states.emplace_back(stacked(rows[i], body_.outputs[states_ + i], output_axes_[i]));
    }
    return states;
  }

  // Turns that an input has, all of the same number.
  [[nodiscard]] std::int64_t turns(const std::vector<Tensor>& scanned) const {
    std::int64_t turns = 0;
    for (std::size_t i = 0; i < scanned_; ++i) {
      const std::int64_t size = scanned[i].shape()[axis_of(input_axes_[i], scanned[i].shape().size())];
      if (i > 0 && size != turns) fail(ErrorCode::invalid_model, "scanned inputs of {} and {} rows", turns, size);
      turns = size;
    }
    return turns;
  }

 private:
  [[nodiscard]] Tensor row(const Tensor& tensor, std::size_t input, std::int64_t turn, std::int64_t turns) const {
    const std::size_t axis = axis_of(input_axes_[input], tensor.shape().size());
    const Tensor cut = cut_tensor(tensor, axis, input_directions_[input] != 0 ? turns - 1 - turn : turn, 1);
    std::vector<std::int64_t> shape = cut.shape();
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return cut.reshaped(std::move(shape));
  }

  const HostCall& call_;
  const onnx::Graph& body_;
  std::size_t scanned_, states_;
  Integers input_axes_, input_directions_, output_axes_, output_directions_;
};

std::size_t scanned_inputs(const HostCall& call) {
  const auto count = call.attribute<std::int64_t>("num_scan_inputs", 0);
  if (count < 1 || std::cmp_greater(count, call.input_count())) {
    fail(ErrorCode::invalid_model, "num_scan_inputs is {} of {} inputs", count, call.input_count());
  }
  return static_cast<std::size_t>(count);
}

void run_scan(HostCall& call) {
  const std::size_t scanned = scanned_inputs(call), states = call.input_count() - scanned;
  Scanner scanner(call, scanned, states);
  std::vector<Value> state;
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < states; ++i) state.push_back(call.input(i));
  for (std::size_t i = 0; i < scanned; ++i) rows.push_back(call.tensor(states + i));
  std::vector<Value> results = scanner.run(std::move(state), rows, scanner.turns(rows));
  for (std::size_t i = 0; i < results.size(); ++i) call.set_output(i, std::move(results[i]));
}

Tensor without_first_axis(const Tensor& tensor) {
  return tensor.reshaped({tensor.shape().begin() + 1, tensor.shape().end()});
}

// Opset 8: each example of a batch by itself, of which only the first rows may count.
void run_batched_scan(HostCall& call) {
  const std::size_t scanned = scanned_inputs(call), states = call.input_count() - 1 - scanned;
  const auto directions = call.attribute<std::vector<std::int64_t>>("directions", {});
  if (std::ranges::any_of(directions, [](std::int64_t direction) { return direction != 0; })) {
    fail(ErrorCode::unsupported, "a Scan of opset 8 that goes backwards");
  }
  Scanner scanner(call, scanned, states);
  const std::int64_t batch = call.tensor(1).shape().at(0);
  std::vector<std::vector<Tensor>> examples(states + scanner.results());
  std::int64_t longest = 0;
  for (std::int64_t example = 0; example < batch; ++example) {
    const auto part = [&](std::size_t input) {
      return without_first_axis(cut_tensor(call.tensor(1 + input), 0, example, 1));
    };
    std::vector<Value> state;
    std::vector<Tensor> rows;
    for (std::size_t i = 0; i < states; ++i) state.emplace_back(part(i));
    for (std::size_t i = 0; i < scanned; ++i) rows.push_back(part(states + i));
    const std::int64_t turns =
        call.has_input(0) ? HostCall::integer_of(cut_tensor(call.tensor(0), 0, example, 1)) : scanner.turns(rows);
    if (turns < 0 || turns > scanner.turns(rows)) {
      fail(ErrorCode::invalid_model, "a sequence of {} rows where there are {}", turns, scanner.turns(rows));
    }
    longest = std::max(longest, scanner.turns(rows));
    std::vector<Value> results = scanner.run(std::move(state), rows, turns);
    for (std::size_t i = 0; i < results.size(); ++i) examples[i].push_back(results[i].tensor());
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (Tensor& tensor : examples[i]) {
      // Rows past the end of a shorter sequence are zero.
      if (i < states || tensor.shape()[0] == longest) continue;
      std::vector<std::int64_t> rest = tensor.shape();
      rest[0] = longest - rest[0];
      const std::array parts{tensor, Tensor::allocate(tensor.dtype(), rest)};
      tensor = join_tensors(parts, 0, false);
    }
    call.set_output(i, join_tensors(examples[i], 0, true));
  }
}

void map_sequence(HostCall& call) {
  const onnx::Graph& body = call.graph("body");
  const std::size_t count = call.elements(0).size();
  std::vector<std::vector<Value>> results(call.output_count());
  for (std::size_t element = 0; element < count; ++element) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      if (call.input(i).is_sequence() && call.elements(i).size() != count) {
        fail(ErrorCode::invalid_model, "sequences of {} and {} elements", count, call.elements(i).size());
      }
      inputs.push_back(call.input(i).is_sequence() ? call.elements(i)[element] : call.input(i));
    }
    std::vector<Value> outputs = call.run(body, std::move(inputs));
    for (std::size_t i = 0; i < results.size() && i < outputs.size(); ++i)
      results[i].push_back(std::move(outputs[i]));
  }
  for (std::size_t i = 0; i < results.size(); ++i) call.set_output(i, Value::sequence(std::move(results[i])));
}

constexpr std::array operators{
    HostOperator{"If", 1, run_if, decides},
    HostOperator{"Loop", 1, run_loop, decides},
    HostOperator{"Scan", 8, run_batched_scan, decides},
    HostOperator{"Scan", 9, run_scan, decides},
    HostOperator{"SequenceMap", 17, map_sequence, decides},
};

}  // namespace

std::span<const HostOperator> control_operators() { return operators; }

}  // namespace lapilli
