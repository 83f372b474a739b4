// Contractions on the host: plain loops, the reference of the kernels and what folds small constants.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "base/checked.h"
#include "base/half.h"
#include "ops/contraction.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

using Sizes = std::vector<std::int64_t>;

// More than this is not worth the host's time.
constexpr std::int64_t most_multiplications = std::int64_t{1} << 22U;

// Calls action(type) with the C++ type that stores `dtype`; returns false for dtypes without arithmetic.
template <class Action>
bool with_element_type(DType dtype, Action&& action) {
  switch (dtype) {
    case DType::float32: action(std::type_identity<float>{}); return true;
    case DType::float16: action(std::type_identity<Half>{}); return true;
    case DType::bfloat16: action(std::type_identity<BFloat16>{}); return true;
    case DType::float64: action(std::type_identity<double>{}); return true;
    case DType::int8: action(std::type_identity<std::int8_t>{}); return true;
    case DType::int16: action(std::type_identity<std::int16_t>{}); return true;
    case DType::int32: action(std::type_identity<std::int32_t>{}); return true;
    case DType::int64: action(std::type_identity<std::int64_t>{}); return true;
    case DType::uint8: action(std::type_identity<std::uint8_t>{}); return true;
    case DType::uint16: action(std::type_identity<std::uint16_t>{}); return true;
    case DType::uint32: action(std::type_identity<std::uint32_t>{}); return true;
    case DType::uint64: action(std::type_identity<std::uint64_t>{}); return true;
    default: return false;
  }
}

// Numbers are double for floating-point dtypes and std::uint64_t, which wraps, for integers.
template <class Number>
std::vector<Number> read(const Tensor& tensor) {
  std::vector<Number> numbers;
  numbers.reserve(static_cast<std::size_t>(tensor.element_count()));
  with_element_type(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T& element : tensor.elements<T>()) {
      if constexpr (std::is_arithmetic_v<T>) {
        numbers.push_back(static_cast<Number>(element));
      } else {
        numbers.push_back(static_cast<Number>(static_cast<float>(element)));
      }
    }
  });
  return numbers;
}

template <class Number>
Tensor write(DType dtype, const Sizes& shape, const std::vector<Number>& numbers) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const std::span<T> elements = tensor.mutable_elements<T>();
    std::ranges::transform(numbers, elements.begin(), [](Number number) {
      if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(number);
      } else {
        return T(static_cast<float>(number));
      }
    });
  });
  return tensor;
}

// The first element of the matrix that an operand has at a batch index, to which its leading axes broadcast.
std::size_t matrix_start(const Sizes& batch, const Sizes& shape) {
  const Sizes strides = row_major_strides(shape);
  const std::size_t missing = batch.size() + 2 - shape.size();
  std::int64_t start = 0;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) start += shape[i] == 1 ? 0 : batch[missing + i] * strides[i];
  return static_cast<std::size_t>(start);
}

struct MatrixView {
  std::size_t rows = 0, columns = 0;
  std::size_t row_stride = 0, column_stride = 0;
};

MatrixView matrix_view(const Sizes& shape, bool transposed) {
  const auto first = static_cast<std::size_t>(shape[shape.size() - 2]);
  const auto second = static_cast<std::size_t>(shape[shape.size() - 1]);
  return transposed ? MatrixView{second, first, 1, second} : MatrixView{first, second, second, 1};
}

template <class Number>
Tensor multiply(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b, const Sizes& shape) {
  const std::vector<Number> left = read<Number>(a), right = read<Number>(b);
  const MatrixView view_a = matrix_view(a.shape(), transpose_a), view_b = matrix_view(b.shape(), transpose_b);
  std::vector<Number> result;
  if (element_count(std::span<const std::int64_t>(shape)) == 0) return write(a.dtype(), shape, result);
  const std::span<const std::int64_t> batch_sizes = std::span(shape).first(shape.size() - 2);
  Sizes batch(batch_sizes.size(), 0);
  do {
    const std::size_t start_a = matrix_start(batch, a.shape()), start_b = matrix_start(batch, b.shape());
    for (std::size_t m = 0; m < view_a.rows; ++m) {
      for (std::size_t n = 0; n < view_b.columns; ++n) {
        Number sum{};
        for (std::size_t k = 0; k < view_a.columns; ++k) {
          sum += left[start_a + m * view_a.row_stride + k * view_a.column_stride] *
                 right[start_b + k * view_b.row_stride + n * view_b.column_stride];
        }
        result.push_back(sum);
      }
    }
  } while (next_index(batch, batch_sizes));
  return write(a.dtype(), shape, result);
}

// The numbers of one convolution, and where its elements lie.
struct ConvolutionLoops {
  Sizes input, weights, output;  // shapes
  Sizes kernel, strides, dilations, pads;
  std::int64_t group = 1;
  bool transposed = false;

  [[nodiscard]] std::int64_t channels() const { return input[1] / group; }  // of one group
  [[nodiscard]] std::int64_t filters() const { return output[1] / group; }

  // The element of X, without its channel, that tap `k` brings to output position `position`; -1 outside.
  [[nodiscard]] std::int64_t source(const Sizes& position, const Sizes& tap) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      std::int64_t at = transposed ? position[i] + pads[i] - tap[i] * dilations[i]
                                   : position[i] * strides[i] - pads[i] + tap[i] * dilations[i];
      if (transposed && at % strides[i] != 0) return -1;
      if (transposed) at /= strides[i];
      if (at < 0 || at >= input[2 + i]) return -1;
      offset = offset * input[2 + i] + at;
    }
    return offset;
  }
};

Tensor convolve(const Tensor& x, const Tensor& w, const ConvolutionLoops& loops) {
  const std::vector<double> input = read<double>(x), weights = read<double>(w);
  const Sizes strides = row_major_strides(loops.input), weight_strides = row_major_strides(loops.weights);
  const std::span<const std::int64_t> positions = std::span(loops.output).subspan(2);
  std::vector<double> result;
  if (element_count(std::span<const std::int64_t>(loops.output)) == 0) return write(x.dtype(), loops.output, result);
  const auto sum_at = [&](std::int64_t image, std::int64_t filter, const Sizes& position) {
    const std::int64_t group = filter / loops.filters(), first = group * loops.channels();
    double sum = 0;
    Sizes tap(loops.kernel.size(), 0);
    std::int64_t tap_number = 0;
    do {
      const std::int64_t source = loops.source(position, tap);
      for (std::int64_t c = 0; source >= 0 && c < loops.channels(); ++c) {
        const std::int64_t weight =
            loops.transposed ? (first + c) * weight_strides[0] + filter % loops.filters() * weight_strides[1]
                             : filter * weight_strides[0] + c * weight_strides[1];
        sum += input[static_cast<std::size_t>(image * strides[0] + (first + c) * strides[1] + source)] *
               weights[static_cast<std::size_t>(weight + tap_number)];
      }
      ++tap_number;
    } while (next_index(tap, loops.kernel));
    return sum;
  };
  for (std::int64_t image = 0; image < loops.output[0]; ++image) {
    for (std::int64_t filter = 0; filter < loops.output[1]; ++filter) {
      Sizes position(positions.size(), 0);
      do result.push_back(sum_at(image, filter, position));
      while (next_index(position, positions));
    }
  }
  return write(x.dtype(), loops.output, result);
}

// Whether `results` sums of `depth` products are few enough.
bool worthwhile(std::int64_t results, std::int64_t depth) {
  return depth == 0 || results <= most_multiplications / std::max<std::int64_t>(depth, 1);
}

std::vector<Fact> facts_of(std::span<const Tensor> tensors) {
  std::vector<Fact> facts;
  for (const Tensor& tensor : tensors) facts.push_back(Fact::of(tensor.dtype(), to_shape(tensor.shape())));
  return facts;
}

}  // namespace

std::vector<Tensor> MatMul::evaluate_own(std::span<const Tensor> inputs) const {
  const Tensor &a = inputs[0], &b = inputs[1];
  Assumptions none({});
  const auto shape = to_numbers(infer_own(facts_of(inputs), none).front().shape);
  const MatrixView view = matrix_view(a.shape(), transpose_a_);
  if (!shape ||
      !worthwhile(element_count(std::span<const std::int64_t>(*shape)), static_cast<std::int64_t>(view.columns))) {
    return {};
  }
  if (is_floating_point(a.dtype())) return {multiply<double>(a, b, transpose_a_, transpose_b_, *shape)};
  return {multiply<std::uint64_t>(a, b, transpose_a_, transpose_b_, *shape)};
}

std::vector<Tensor> Convolution::evaluate_own(std::span<const Tensor> inputs) const {
  const Tensor &x = inputs[0], &w = inputs[1];
  const ConvolutionAttributes lists = filled(x.shape().size() - 2);
  // Padding may depend on sizes that are not numbers yet.
  const auto pads = to_numbers(lists.pads_begin);
  if (!pads || !to_numbers(lists.pads_end) || !to_numbers(lists.output_padding) || !to_numbers(lists.output_size)) {
    return {};
  }
  Assumptions none({});
  ConvolutionLoops loops;
  loops.input = x.shape();
  loops.weights = w.shape();
  loops.output = *to_numbers(infer_own(facts_of(inputs), none).front().shape);
  loops.kernel.assign(w.shape().begin() + 2, w.shape().end());
  loops.strides = lists.strides;
  loops.dilations = lists.dilations;
  loops.pads = *pads;
  loops.group = lists.group;
  loops.transposed = lists.transposed;
  const std::int64_t depth = loops.channels() * element_count(std::span<const std::int64_t>(loops.kernel));
  if (!worthwhile(element_count(std::span<const std::int64_t>(loops.output)), depth)) return {};
  return {convolve(x, w, loops)};
}

}  // namespace lapilli
