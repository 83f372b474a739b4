// Fourier transforms as products with a matrix of cosines and sines, windows, and mel filters.
#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <numbers>

#include "base/checked.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/tensor_reader.h"
#include "ops/contraction.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

// Larger matrices would take longer to read than what they are for.
constexpr std::int64_t most_matrix_elements = std::int64_t{1} << 26U;

// What a transform turns into what: `rows` samples, each of `components` numbers (real, or real and imaginary), into
// `columns` samples of `results` numbers, where the whole has `length`.
struct Transform {
  Dim rows, columns, length;
  std::int64_t components = 1, results = 2;
  bool inverse = false;
  bool onesided = false;  // of an inverse: samples past the middle are the conjugates of those before it
};

// The part of output number `result` that input number `component` gives, at this angle. Result and component are 0
// for real and 1 for imaginary: (a + bi) * (cos + i * sin).
double factor(const Transform& transform, std::int64_t component, std::int64_t result, double angle) {
  const double sine = transform.inverse ? std::sin(angle) : -std::sin(angle);
  if (component == result) return std::cos(angle);
  return component == 0 ? sine : -sine;
}

// How much a row counts.
double weight(const Transform& transform, std::int64_t row, std::int64_t length) {
  const double scale = transform.inverse ? 1 / static_cast<double>(length) : 1;
  const bool alone = row == 0 || 2 * row == length;
  return transform.inverse && transform.onesided && !alone ? 2 * scale : scale;
}

// [rows * components, columns * results] in double precision.
Tensor transform_matrix(const Transform& transform, std::int64_t rows, std::int64_t columns, std::int64_t length) {
  const std::int64_t height = rows * transform.components, width = columns * transform.results;
  Tensor matrix = Tensor::allocate(DType::float64, {height, width});
  const auto elements = matrix.mutable_elements<double>();
  for (std::int64_t i = 0; i < height; ++i) {
    const std::int64_t row = i / transform.components;
    const double scale = weight(transform, row, length);
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t turns = row * (j / transform.results) % length;
      const double angle = 2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(length);
      elements[static_cast<std::size_t>(i * width + j)] =
          scale * factor(transform, i % transform.components, j % transform.results, angle);
    }
  }
  return matrix;
}

ValueId integer(NodeBuilder& node, const Dim& value) { return node.cast(node.sizes({value}), DType::int32); }

ValueId join(NodeBuilder& node, int axis, std::vector<ValueId> values) {
  return values.size() == 1 ? values[0] : node.add(std::make_shared<Concat>(axis), std::move(values));
}

// The same matrix made by the device, where only a run knows the length.
ValueId device_matrix(NodeBuilder& node, const Transform& transform) {
  using enum PointwiseFunction;
  const ValueId rows = node.positions(transform.rows, 0, 4), columns = node.positions(transform.columns, 2, 4);
  const ValueId turns =
      node.pointwise(modulo, {node.pointwise(multiply, {rows, columns}), integer(node, transform.length)});
  const ValueId length = node.cast(integer(node, transform.length), DType::float32);
  const ValueId angle = node.pointwise(
      divide,
      {node.pointwise(multiply, {node.cast(turns, DType::float32)}, {Immediate::of(2 * std::numbers::pi)}), length});
  ValueId cosines = node.pointwise(cosine, {angle}), sines = node.pointwise(sine, {angle});
  if (transform.inverse) {
    cosines = node.pointwise(divide, {cosines, length});
    sines = node.pointwise(divide, {sines, length});
  }
  if (transform.inverse && transform.onesided) {
    // 2, and 1 where a row is its own conjugate: where twice its number is 0 or the length.
    const ValueId twice =
        node.pointwise(modulo, {node.pointwise(add, {rows, rows}), integer(node, transform.length)});
    const ValueId paired = node.cast(node.pointwise(less, {node.scalar(DType::int32, 0), twice}), DType::float32);
    const ValueId weights = node.pointwise(add, {paired}, {Immediate::of(1)});
    cosines = node.pointwise(multiply, {cosines, weights});
    sines = node.pointwise(multiply, {sines, weights});
  }
  const ValueId opposite = node.pointwise(negate, {sines});
  const ValueId forward = transform.inverse ? sines : opposite, backward = transform.inverse ? opposite : sines;
  std::vector<ValueId> components;
  for (std::int64_t component = 0; component < transform.components; ++component) {
    std::vector<ValueId> results{component == 0 ? cosines : backward};
    if (transform.results == 2) results.push_back(component == 0 ? forward : cosines);
    components.push_back(join(node, 3, std::move(results)));
  }
  return node.reshape(join(node, 1, std::move(components)),
                      {transform.rows * Dim(transform.components), transform.columns * Dim(transform.results)});
}

ValueId matrix_of(NodeBuilder& node, const Transform& transform, DType dtype) {
  const bool known =
      transform.rows.is_constant() && transform.columns.is_constant() && transform.length.is_constant();
  if (!known && dtype != DType::float64) return node.cast(device_matrix(node, transform), dtype);
  const auto number = [&](const Dim& dim) { return node.assumptions().number(dim); };
  const std::int64_t rows = number(transform.rows), columns = number(transform.columns),
                     length = number(transform.length);
  const std::int64_t elements =
      checked_multiply(checked_multiply(rows, columns), transform.components * transform.results);
  if (elements > most_matrix_elements) {
    node.fail_unsupported(std::format("a Fourier transform of {} samples, whose matrix has {} elements, more than {}",
                                      length, elements, most_matrix_elements));
  }
  return node.cast(node.constant(transform_matrix(transform, rows, columns, length)), dtype);
}

std::int64_t component_count(NodeBuilder& node, ValueId value) {
  const Shape& shape = node.shape(value);
  const std::int64_t components = shape.empty() ? 0 : node.assumptions().number(shape.back());
  if (shape.size() < 2 || components < 1 || components > 2)
    node.fail_model(std::format("{} holds neither real nor complex samples", node.fact(value).to_string()));
  return components;
}

int transform_axis(NodeBuilder& node, std::size_t rank) {
  std::int64_t wanted = node.opset() >= 20 ? -2 : node.integer("axis", 1);
  if (node.opset() >= 20 && node.has_input(2)) wanted = node.assumptions().number(node.integers(2).at(0));
  const int axis = node.axis(wanted, rank);
  if (axis + 1 == static_cast<int>(rank))
    node.fail_model("the axis of a Fourier transform is that of the components");
  return axis;
}

void build_dft(NodeBuilder& node) {
  ValueId x = node.input(0);
  Transform transform;
  transform.components = component_count(node, x);
  transform.inverse = node.integer("inverse", 0) != 0;
  transform.onesided = node.integer("onesided", 0) != 0;
  const bool real_result = transform.inverse && transform.onesided;
  transform.results = real_result ? 1 : 2;
  const std::size_t rank = node.rank(x);
  const auto axis = static_cast<std::size_t>(transform_axis(node, rank));
  const Dim samples = node.shape(x)[axis];
  transform.length = node.has_input(1) ? node.integers(1).at(0) : real_result ? (samples - Dim(1)) * Dim(2) : samples;
  if (!node.assumptions().less(0, transform.length))
    node.fail_model(std::format("a Fourier transform of {} samples", transform.length.to_string()));
  const Dim half = Dim::floor_divide(transform.length, 2) + Dim(1);
  transform.columns = transform.onesided && !transform.inverse ? half : transform.length;
  // Samples that are missing are zero and need no rows; those past the length are cut off.
  const Dim used = real_result ? half : transform.length;
  transform.rows = node.assumptions().less(used, samples) ? used : samples;
  std::vector<int> order;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != axis && i + 1 != rank) order.push_back(static_cast<int>(i));
  }
  order.push_back(static_cast<int>(axis));
  order.push_back(static_cast<int>(rank) - 1);
  if (transform.rows != samples) {
    Shape size = node.shape(x);
    size[axis] = transform.rows;
    x = node.add(std::make_shared<Slice>(std::vector<Dim>(rank, Dim(0)), size, std::vector<Dim>(rank, Dim(1))), {x});
  }
  x = node.add(std::make_shared<Transpose>(order), {x});
  Shape shape = node.shape(x);
  const Dim outer = element_count(std::span(shape).first(rank - 2));
  const ValueId rows = node.reshape(x, {outer, transform.rows * Dim(transform.components)});
  const ValueId product = node.add(std::make_shared<MatMul>(), {rows, matrix_of(node, transform, node.dtype(x))});
  shape[rank - 2] = transform.columns;
  shape[rank - 1] = transform.results;
  std::vector<int> inverse(rank);
  for (std::size_t i = 0; i < rank; ++i) inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  node.set_output(0, node.add(std::make_shared<Transpose>(std::move(inverse)), {node.reshape(product, shape)}));
}

// Frames are windows of a convolution, whose kernels are the columns of the matrix times the window.
void build_stft(NodeBuilder& node) {
  ValueId signal = node.input(0);
  if (node.rank(signal) == 2) signal = node.unsqueeze(signal, std::array{2});
  if (node.rank(signal) != 3) node.fail_model(std::format("the signal is {}", node.fact(signal).to_string()));
  Transform transform;
  transform.components = component_count(node, signal);
  const Dim length = node.has_input(3)   ? node.integers(3).at(0)
                     : node.has_input(2) ? node.shape(node.input(2)).at(0)
                                         : node.shape(signal)[1];
  transform.length = length;
  transform.rows = node.has_input(2) ? node.shape(node.input(2)).at(0) : length;
  transform.columns = node.integer("onesided", 1) != 0 ? Dim::floor_divide(length, 2) + Dim(1) : length;
  const std::int64_t step = node.assumptions().number(node.integers(1).at(0));
  if (step <= 0) node.fail_model(std::format("frame_step is {}", step));
  const DType dtype = node.dtype(signal);
  const Dim width = transform.columns * Dim(2);
  // [rows, components, width] as [width, components, rows].
  ValueId kernels = node.reshape(matrix_of(node, transform, dtype), {transform.rows, transform.components, width});
  kernels = node.add(std::make_shared<Transpose>(std::vector{2, 1, 0}), {kernels});
  if (node.has_input(2)) kernels = node.pointwise(PointwiseFunction::multiply, {kernels, node.input(2)});
  ConvolutionAttributes attributes;
  attributes.strides = {step};
  const ValueId channels = node.add(std::make_shared<Transpose>(std::vector{0, 2, 1}), {signal});
  ValueId frames = node.add(std::make_shared<Convolution>(std::move(attributes)), {channels, kernels});
  frames = node.add(std::make_shared<Transpose>(std::vector{0, 2, 1}), {frames});
  const Shape shape = node.shape(frames);
  node.set_output(0, node.reshape(frames, {shape[0], shape[1], transform.columns, 2}));
}

// A window is a sum of cosines: first - second * cos(angle) + third * cos(2 * angle).
struct WindowTerms {
  double first, second, third;
};
constexpr WindowTerms hann_terms{0.5, 0.5, 0}, hamming_terms{25.0 / 46, 21.0 / 46, 0},
    blackman_terms{0.42, 0.5, 0.08};

ValueId device_window(NodeBuilder& node, const WindowTerms& terms, const Dim& size, const Dim& period, DType dtype) {
  using enum PointwiseFunction;
  const ValueId places = node.cast(node.positions(size), dtype);
  const ValueId turns = node.pointwise(divide, {places, node.cast(integer(node, period), dtype)});
  const auto cosines = [&](double times, double scale) {
    const ValueId angle = node.pointwise(multiply, {turns}, {Immediate::of(2 * std::numbers::pi * times)});
    return node.pointwise(multiply, {node.pointwise(cosine, {angle})}, {Immediate::of(scale)});
  };
  const ValueId first = node.pointwise(add, {cosines(1, -terms.second)}, {Immediate::of(terms.first)});
  return terms.third == 0 ? first : node.pointwise(add, {first, cosines(2, terms.third)});
}

template <const WindowTerms& terms>
void build_window(NodeBuilder& node) {
  const DType dtype = read_dtype(checked_cast<std::int32_t>(node.integer("output_datatype", 1)));
  const Dim size = node.integers(0).at(0), period = node.integer("periodic", 1) != 0 ? size : size - Dim(1);
  const auto number = size.constant();
  const DType wide = dtype == DType::float64 ? DType::float64 : DType::float32;
  if (!number) return node.set_output(0, node.cast(device_window(node, terms, size, period, wide), dtype));
  if (*number < 0 || *number > most_matrix_elements) node.fail_model(std::format("a window of {} samples", *number));
  Tensor window = Tensor::allocate(DType::float64, {*number});
  double place = 0;
  for (double& element : window.mutable_elements<double>()) {
    const double angle = 2 * std::numbers::pi * place++ / static_cast<double>(*period.constant());
    element = terms.first - terms.second * std::cos(angle) + terms.third * std::cos(2 * angle);
  }
  node.set_output(0, node.cast(node.constant(std::move(window)), dtype));
}

// One column: a triangle from `low` over `middle` to `high`.
struct Triangle {
  std::int64_t low, middle, high;
  [[nodiscard]] double at(std::int64_t bin) const {
    if (middle > low && bin >= low && bin < middle)
      return static_cast<double>(bin - low) / static_cast<double>(middle - low);
    if (bin == middle) return 1;
    if (bin > middle && bin < high) return static_cast<double>(high - bin) / static_cast<double>(high - middle);
    return 0;
  }
};

void build_mel_weight_matrix(NodeBuilder& node) {
  const auto count = [&](std::size_t index) { return node.assumptions().number(node.integers(index).at(0)); };
  const auto edge = [&](std::size_t index) {
    const double hertz = Immediate::of_tensor(node.constant(index)).real;
    return 2595 * std::log10(1 + hertz / 700);
  };
  const std::int64_t bands = count(0), length = count(1), rate = count(2);
  const double low = edge(3), high = edge(4);
  if (bands < 1 || length < 1 || rate < 1 || length > most_matrix_elements / std::max<std::int64_t>(bands, 1))
    node.fail_model(std::format("{} mel bands of a transform of {} samples at {} hertz", bands, length, rate));
  const auto bin = [&](std::int64_t i) {
    const double mel = low + (high - low) / static_cast<double>(bands + 2) * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    return static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  };
  const std::int64_t bins = length / 2 + 1;
  Tensor matrix = Tensor::allocate(DType::float64, {bins, bands});
  const auto elements = matrix.mutable_elements<double>();
  for (std::int64_t band = 0; band < bands; ++band) {
    const Triangle triangle{bin(band), bin(band + 1), bin(band + 2)};
    for (std::int64_t i = 0; i < bins; ++i) elements[static_cast<std::size_t>(i * bands + band)] = triangle.at(i);
  }
  const DType dtype = read_dtype(checked_cast<std::int32_t>(node.integer("output_datatype", 1)));
  node.set_output(0, node.cast(node.constant(std::move(matrix)), dtype));
}

constexpr std::array records{
    OperatorRecord{"BlackmanWindow", 17, build_window<blackman_terms>, {types::indices}},
    OperatorRecord{"DFT", 17, build_dft, {types::floats, types::indices, types::sizes}},
    OperatorRecord{"HammingWindow", 17, build_window<hamming_terms>, {types::indices}},
    OperatorRecord{"HannWindow", 17, build_window<hann_terms>, {types::indices}},
    OperatorRecord{"MelWeightMatrix",
                   17,
                   build_mel_weight_matrix,
                   {types::indices, types::indices, types::indices, types::floats}},
    OperatorRecord{"STFT", 17, build_stft, {types::floats, types::indices, types::floats, types::indices}},
};

}  // namespace

std::span<const OperatorRecord> signal_operators() { return records; }

}  // namespace lapilli::onnx
