// Einsum: diagonals and sums of single operands, then products of two at a time, each a matrix product or, where
// nothing is summed, a multiplication.
#include <algorithm>
#include <array>
#include <cctype>
#include <format>
#include <map>
#include <numeric>

#include "import/onnx/operators/node_builder.h"
#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

using Labels = std::vector<int>;

// The axes of an ellipsis get labels from here on, the last axis the first one.
constexpr int first_ellipsis_label = 1000;

struct Term {
  Labels labels;      // letters; the place of the ellipsis is marked by `ellipsis`
  int ellipsis = -1;  // how many labels stand before it; -1: there is none
};

struct Equation {
  std::vector<Term> inputs;
  std::optional<Term> output;
};

Term parse_term(NodeBuilder& node, std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...") && term.ellipsis < 0) {
      term.ellipsis = static_cast<int>(term.labels.size());
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term.labels.push_back(text[i]);
    } else {
      node.fail_model(std::format("'{}' is no term of an equation", text));
    }
  }
  return term;
}

Equation parse_equation(NodeBuilder& node) {
  std::string text = node.text("equation", "");
  std::erase(text, ' ');
  Equation equation;
  std::string_view rest = text;
  if (const std::size_t arrow = rest.find("->"); arrow != std::string_view::npos) {
    equation.output = parse_term(node, rest.substr(arrow + 2));
    rest = rest.substr(0, arrow);
  }
  while (true) {
    const std::size_t comma = rest.find(',');
    equation.inputs.push_back(parse_term(node, rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (equation.inputs.size() != node.input_count())
    node.fail_model(std::format("'{}' has {} terms for {} inputs", text, equation.inputs.size(), node.input_count()));
  return equation;
}

// A label for each axis.
Labels with_ellipsis(const Term& term, int axes) {
  Labels labels = term.labels;
  if (term.ellipsis < 0) return labels;
  Labels added;
  for (int i = axes; i-- > 0;) added.push_back(first_ellipsis_label + i);
  labels.insert(labels.begin() + term.ellipsis, added.begin(), added.end());
  return labels;
}

// Where the equation has no output: the ellipsis, then the labels that occur once, in the order of the alphabet.
Labels implied_output(const Equation& equation, int axes) {
  std::map<int, int> counts;
  for (const Term& term : equation.inputs) {
    for (const int label : term.labels) ++counts[label];
  }
  Term output;
  output.ellipsis = 0;
  for (const auto& [label, count] : counts) {
    if (count == 1) output.labels.push_back(label);
  }
  return with_ellipsis(output, axes);
}

struct Operand {
  ValueId value = no_value;
  Labels labels;
};

std::size_t place_of(const Labels& labels, int label) {
  return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

Operand permuted(NodeBuilder& node, const Operand& operand, const Labels& order) {
  if (operand.labels == order) return operand;
  std::vector<int> permutation;
  for (const int label : order) permutation.push_back(static_cast<int>(place_of(operand.labels, label)));
  return {node.add(std::make_shared<Transpose>(std::move(permutation)), {operand.value}), order};
}

// The diagonal of two axes that have the same label: as one axis of all their elements it is every (n + 1)th.
Operand diagonal(NodeBuilder& node, const Operand& operand, std::size_t first, std::size_t second) {
  std::vector<int> permutation;
  Operand result;
  Shape shape;
  const Shape whole = node.shape(operand.value);
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    if (i == first || i == second) continue;
    permutation.push_back(static_cast<int>(i));
    result.labels.push_back(operand.labels[i]);
    shape.push_back(whole[i]);
  }
  permutation.push_back(static_cast<int>(first));
  permutation.push_back(static_cast<int>(second));
  result.labels.push_back(operand.labels[first]);
  const Dim& size = whole[first];
  if (!node.assumptions().equal(size, whole[second]))
    node.fail_model(std::format("axes {} and {} of {} are one label", first, second, shape_text(whole)));
  result.value = node.add(std::make_shared<Transpose>(std::move(permutation)), {operand.value});
  shape.push_back(size * size);
  result.value = node.reshape(result.value, shape);
  shape.back() = size;
  const std::vector<Dim> start(shape.size(), Dim(0));
  std::vector<Dim> step(shape.size(), Dim(1));
  step.back() = size + Dim(1);
  result.value = node.add(std::make_shared<Slice>(start, shape, step), {result.value});
  return result;
}

Operand without_repeats(NodeBuilder& node, Operand operand) {
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    for (std::size_t j = i + 1; j < operand.labels.size(); ++j) {
      if (operand.labels[i] == operand.labels[j]) return without_repeats(node, diagonal(node, operand, i, j));
    }
  }
  return operand;
}

Operand without_axes(NodeBuilder& node, const Operand& operand, const std::vector<int>& axes) {
  Operand result;
  Shape shape;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    if (std::ranges::contains(axes, static_cast<int>(i))) continue;
    result.labels.push_back(operand.labels[i]);
    shape.push_back(node.shape(operand.value)[i]);
  }
  result.value = node.reshape(operand.value, std::move(shape));
  return result;
}

// Sums over the labels that nothing else needs.
Operand summed(NodeBuilder& node, const Operand& operand, const Labels& needed) {
  std::vector<int> axes;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    if (!std::ranges::contains(needed, operand.labels[i])) axes.push_back(static_cast<int>(i));
  }
  if (axes.empty()) return operand;
  const auto sum = std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, axes);
  return without_axes(node, {node.add(sum, {operand.value}), operand.labels}, axes);
}

// Axes of size 1 that stand for a larger one of the other operand go away.
Operand without_ones(NodeBuilder& node, const Operand& operand, const Operand& other) {
  std::vector<int> axes;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    const std::size_t place = place_of(other.labels, operand.labels[i]);
    if (place == other.labels.size()) continue;
    const Dim size = node.shape(operand.value)[i], wanted = node.shape(other.value)[place];
    if (node.assumptions().equal(size, wanted)) continue;
    if (node.assumptions().equal(size, 1)) {
      axes.push_back(static_cast<int>(i));
    } else if (!node.assumptions().equal(wanted, 1)) {
      node.fail_model(std::format("one label stands for {} and {}", size.to_string(), wanted.to_string()));
    }
  }
  return axes.empty() ? operand : without_axes(node, operand, axes);
}

Labels joined(std::initializer_list<const Labels*> parts) {
  Labels all;
  for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

// The axes after `kept` as groups: each becomes one axis.
ValueId grouped(NodeBuilder& node, ValueId value, std::size_t kept, std::size_t first_group) {
  const Shape shape = node.shape(value);
  const std::span all(shape);
  Shape result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kept));
  result.push_back(element_count(all.subspan(kept, first_group)));
  result.push_back(element_count(all.subspan(kept + first_group)));
  return node.reshape(value, std::move(result));
}

Operand multiplied(NodeBuilder& node, const Operand& left, const Operand& right, const Labels& order) {
  const auto spread = [&](const Operand& operand) {
    Labels own;
    std::vector<int> missing;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (std::ranges::contains(operand.labels, order[i])) {
        own.push_back(order[i]);
      } else {
        missing.push_back(static_cast<int>(i));
      }
    }
    return node.unsqueeze(permuted(node, operand, own).value, missing);
  };
  return {node.pointwise(PointwiseFunction::multiply, {spread(left), spread(right)}), order};
}

Operand contracted(NodeBuilder& node, Operand left, Operand right, const Labels& needed) {
  left = without_ones(node, left, right);
  right = without_ones(node, right, left);
  left = summed(node, left, joined({&needed, &right.labels}));
  right = summed(node, right, joined({&needed, &left.labels}));
  Labels batch, inner, rows, columns;
  for (const int label : left.labels) {
    const bool both = std::ranges::contains(right.labels, label), kept = std::ranges::contains(needed, label);
    (both && kept ? batch : both ? inner : rows).push_back(label);
  }
  for (const int label : right.labels) {
    if (!std::ranges::contains(left.labels, label)) columns.push_back(label);
  }
  Operand result{no_value, joined({&batch, &rows, &columns})};
  if (inner.empty()) return multiplied(node, left, right, result.labels);
  left = permuted(node, left, joined({&batch, &rows, &inner}));
  right = permuted(node, right, joined({&batch, &inner, &columns}));
  Shape shape = node.shape(left.value);
  shape.resize(batch.size() + rows.size());
  const Shape& right_shape = node.shape(right.value);
  shape.insert(shape.end(), right_shape.begin() + static_cast<std::ptrdiff_t>(batch.size() + inner.size()),
               right_shape.end());
  const ValueId a = grouped(node, left.value, batch.size(), rows.size());
  const ValueId b = grouped(node, right.value, batch.size(), inner.size());
  result.value = node.reshape(node.add(std::make_shared<MatMul>(), {a, b}), std::move(shape));
  return result;
}

int ellipsis_axes(NodeBuilder& node, const Equation& equation) {
  int most = 0;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const Term& term = equation.inputs[i];
    const auto rank = static_cast<int>(node.rank(node.input(i))), letters = static_cast<int>(term.labels.size());
    if (term.ellipsis < 0 ? rank != letters : rank < letters) {
      node.fail_model(
          std::format("term {} of the equation does not fit {}", i, node.fact(node.input(i)).to_string()));
    }
    if (term.ellipsis >= 0) most = std::max(most, rank - letters);
  }
  return most;
}

void build_einsum(NodeBuilder& node) {
  const Equation equation = parse_equation(node);
  const int axes = ellipsis_axes(node, equation);
  const Labels output = equation.output ? with_ellipsis(*equation.output, axes) : implied_output(equation, axes);
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const Term& term = equation.inputs[i];
    const ValueId value = node.input(i);
    const int own = static_cast<int>(node.rank(value)) - static_cast<int>(term.labels.size());
    operands.push_back(without_repeats(node, {value, with_ellipsis(term, own)}));
  }
  for (const int label : output) {
    const bool known = std::ranges::any_of(
        operands, [&](const Operand& operand) { return std::ranges::contains(operand.labels, label); });
    if (!known || std::ranges::count(output, label) != 1) {
      node.fail_model(std::format("the output of '{}' has an axis that no input has, or has one twice",
                                  node.text("equation", "")));
    }
  }
  Operand result = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) {
    Labels needed = output;
    for (std::size_t later = i + 1; later < operands.size(); ++later)
      needed.insert(needed.end(), operands[later].labels.begin(), operands[later].labels.end());
    result = contracted(node, result, operands[i], needed);
  }
  result = permuted(node, summed(node, result, output), output);
  node.set_output(0, result.value);
}

constexpr std::array records{
    OperatorRecord{"Einsum", 12, build_einsum, {types::numbers}},
};

}  // namespace

std::span<const OperatorRecord> einsum_operators() { return records; }

}  // namespace lapilli::onnx
