// Random numbers, and what is drawn with them.
#include "import/onnx/operators/random.h"

#include <array>
#include <bit>
#include <format>

#include "base/checked.h"
#include "import/onnx/tensor_reader.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/scan.h"
#include "ops/sort.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

DType dtype_attribute(NodeBuilder& node, DType otherwise) {
  if (!node.has_attribute("dtype")) return otherwise;
  return read_dtype(checked_cast<std::int32_t>(node.integer("dtype", 0)));
}

ValueId draw(NodeBuilder& node, Distribution distribution, Shape shape, DType dtype) {
  const bool uniform = distribution == Distribution::uniform;
  const double first = uniform ? node.real("low", 0.0F) : node.real("mean", 0.0F);
  const double second = uniform ? node.real("high", 1.0F) : node.real("scale", 1.0F);
  return random_numbers(node, {distribution, dtype, std::move(shape), first, second, 0, 0});
}

template <Distribution distribution>
void build_random(NodeBuilder& node) {
  const auto shape = node.integers("shape");
  if (!shape) node.fail_model("attribute shape is missing");
  for (const std::int64_t size : *shape) {
    if (size < 0) node.fail_model(std::format("the shape {} has a negative size", shape_text(to_shape(*shape))));
  }
  node.set_output(0, draw(node, distribution, to_shape(*shape), dtype_attribute(node, DType::float32)));
}

template <Distribution distribution>
void build_random_like(NodeBuilder& node) {
  const ValueId like = node.input(0);
  node.set_output(0, draw(node, distribution, node.shape(like), dtype_attribute(node, node.dtype(like))));
}

// 1 with the probability that the input says.
void build_bernoulli(NodeBuilder& node) {
  const ValueId probability = node.input(0);
  const DType dtype = dtype_attribute(node, node.dtype(probability));
  const ValueId numbers = uniform_numbers(node, node.shape(probability));
  const ValueId hit = node.pointwise(Function::less, {numbers, node.cast(probability, DType::float32)});
  node.set_output(0, node.cast(hit, dtype));
}

// Classes by their unnormalised log-probabilities: a number drawn evenly falls between two running sums.
void build_multinomial(NodeBuilder& node) {
  const ValueId scores = node.cast(node.input(0), DType::float32);
  const Shape shape = node.shape(scores);
  if (shape.size() != 2) node.fail_model(std::format("{} is not [batch, classes]", node.fact(scores).to_string()));
  const std::int64_t samples = node.integer("sample_size", 1);
  if (samples < 0) node.fail_model(std::format("sample_size is {}", samples));
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::softmax;
  attributes.axes = {1};
  const ValueId probabilities = node.add(std::make_shared<Normalization>(std::move(attributes)), {scores});
  const ValueId sums = node.add(std::make_shared<Scan>(ReductionFunction::sum, 1), {probabilities});
  const std::vector<Dim> start{0, shape[1] - Dim(1)}, size{shape[0], 1}, step{1, 1};
  const ValueId whole = node.add(std::make_shared<Slice>(start, size, step), {sums});
  const ValueId numbers = uniform_numbers(node, {shape[0], samples});
  const ValueId found =
      node.add(std::make_shared<Search>(true), {sums, node.pointwise(Function::multiply, {numbers, whole})});
  const ValueId last = node.cast(node.reshape(node.sizes({shape[1] - Dim(1)}), {}), DType::int32);
  node.set_output(0,
                  node.cast(node.pointwise(Function::minimum, {found, last}), dtype_attribute(node, DType::int32)));
}

constexpr std::array records{
    OperatorRecord{"Bernoulli", 15, build_bernoulli, {types::floats}},
    OperatorRecord{"Multinomial", 7, build_multinomial, {types::floats}},
    OperatorRecord{"RandomNormal", 1, build_random<Distribution::normal>, {}},
    OperatorRecord{"RandomNormalLike", 1, build_random_like<Distribution::normal>, {types::plain}},
    OperatorRecord{"RandomUniform", 1, build_random<Distribution::uniform>, {}},
    OperatorRecord{"RandomUniformLike", 1, build_random_like<Distribution::uniform>, {types::plain}},
};

// A number for a name (FNV-1a).
std::uint32_t stream_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash;
}

}  // namespace

ValueId random_numbers(NodeBuilder& node, RandomAttributes attributes) {
  if (!node.has_attribute("seed")) {
    attributes.stream = stream_of(node.node().outputs.empty() ? "" : node.node().outputs[0]);
  } else if (node.node().find_attribute("seed")->type == AttributeType::integer) {
    attributes.seed = static_cast<std::uint64_t>(node.integer("seed", 0));
  } else {
    attributes.seed = std::bit_cast<std::uint32_t>(node.real("seed", 0));
  }
  return node.add(std::make_shared<Random>(std::move(attributes)), {});
}

ValueId uniform_numbers(NodeBuilder& node, Shape shape) {
  RandomAttributes attributes;
  attributes.shape = std::move(shape);
  return random_numbers(node, std::move(attributes));
}

std::span<const OperatorRecord> random_operators() { return records; }

}  // namespace lapilli::onnx
