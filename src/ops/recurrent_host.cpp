// Recurrent layers on the host, in double precision: the reference of the kernel.
#include <algorithm>
#include <cmath>

#include "ops/pointwise.h"
#include "ops/recurrent.h"

namespace lapilli {
namespace {

double activate(const ActivationCall& call, double x) {
  const double alpha = call.alpha, beta = call.beta;
  switch (call.function) {
    using enum RecurrentActivation;
    case relu: return std::max(x, 0.0);
    case RecurrentActivation::tanh: return std::tanh(x);
    case sigmoid: return 1 / (1 + std::exp(-x));
    case affine: return alpha * x + beta;
    case leaky_relu: return x < 0 ? alpha * x : x;
    case thresholded_relu: return x > alpha ? x : 0;
    case scaled_tanh: return alpha * std::tanh(beta * x);
    case hard_sigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case elu: return x < 0 ? alpha * std::expm1(x) : x;
    case softsign: return x / (1 + std::abs(x));
    case softplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

using Doubles = std::span<const double>;

// One direction of one sequence.
struct Sequence {
  const RecurrentAttributes& attributes;
  std::span<const ActivationCall> activations;
  std::size_t hidden;
  Doubles weights, bias, peepholes;
  std::vector<double> state, cell;

  [[nodiscard]] double clipped(double x) const {
    const double most = attributes.clip;
    return most > 0 ? std::clamp(x, -most, most) : x;
  }
  [[nodiscard]] double activated(std::size_t which, double x) const {
    return activate(activations[which], clipped(x));
  }
  [[nodiscard]] double bias_of(std::size_t row) const { return bias.empty() ? 0 : bias[row]; }
  [[nodiscard]] double peephole(std::size_t gate, std::size_t unit) const {
    return peepholes.empty() ? 0 : peepholes[gate * hidden + unit];
  }
  [[nodiscard]] double product(std::size_t row, const std::vector<double>& vector) const {
    double sum = 0;
    for (std::size_t k = 0; k < hidden; ++k) sum += weights[row * hidden + k] * vector[k];
    return sum;
  }

  void step(Doubles projected) {
    std::vector<double> next(hidden), reset(hidden);
    const std::size_t count = hidden;
    const auto sum = [&](std::size_t gate, std::size_t unit) {
      const std::size_t row = gate * count + unit;
      return projected[row] + product(row, state) + bias_of(row);
    };
    for (std::size_t j = 0; j < count; ++j) reset[j] = state[j];
    if (attributes.kind == RecurrentKind::gated) {
      for (std::size_t j = 0; j < count; ++j) reset[j] = state[j] * activated(0, sum(1, j));
    }
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t last = 2 * count + j;
      switch (attributes.kind) {
        case RecurrentKind::simple: next[j] = activated(0, sum(0, j)); break;
        case RecurrentKind::gated:
        case RecurrentKind::gated_reset_after: {
          const double update = activated(0, sum(0, j));
          double own = product(last, reset) + bias_of(last);
          if (attributes.kind == RecurrentKind::gated_reset_after) own *= activated(0, sum(1, j));
          next[j] = (1 - update) * activated(1, projected[last] + own) + update * state[j];
          break;
        }
        case RecurrentKind::long_short_term: {
          const double in = activated(0, sum(0, j) + peephole(0, j) * cell[j]);
          const double forget = attributes.input_forget ? 1 - in : activated(0, sum(2, j) + peephole(2, j) * cell[j]);
          const double changed = forget * cell[j] + in * activated(1, sum(3, j));
          const double out = activated(0, sum(1, j) + peephole(1, j) * changed);
          cell[j] = changed;
          next[j] = out * activate(activations[2], changed);
          break;
        }
      }
    }
    state = std::move(next);
  }
};

std::vector<Tensor> as_doubles(std::span<const Tensor> inputs) {
  std::vector<Tensor> results;
  for (const Tensor& input : inputs)
    results.push_back(input.defined() ? evaluate_chain({}, {&input, 1}, DType::float64) : Tensor());
  return results;
}

Doubles part(const Tensor& tensor, std::size_t index, std::size_t size) {
  return tensor.defined() ? tensor.elements<double>().subspan(index * size, size) : Doubles();
}

std::vector<double> state_of(Doubles initial, std::size_t hidden) {
  return initial.empty() ? std::vector<double>(hidden, 0) : std::vector<double>(initial.begin(), initial.end());
}

}  // namespace

std::vector<Tensor> Recurrent::evaluate(std::span<const Tensor> inputs) const {
  const std::vector<Tensor> known = as_doubles(inputs);
  const auto steps = inputs[0].shape()[0], batch = inputs[0].shape()[1], hidden = inputs[1].shape()[2];
  const auto directions = static_cast<std::int64_t>(attributes_.backwards.size());
  const auto units = static_cast<std::size_t>(hidden), entries = static_cast<std::size_t>(batch);
  const std::size_t rows = units * static_cast<std::size_t>(gate_count(attributes_.kind));
  const std::size_t calls = activation_count(attributes_.kind), ways = attributes_.backwards.size();
  std::vector<Tensor> results{Tensor::allocate(DType::float64, {steps, directions, batch, hidden}),
                              Tensor::allocate(DType::float64, {directions, batch, hidden}),
                              Tensor::allocate(DType::float64, {directions, batch, hidden})};
  const auto y = results[0].mutable_elements<double>();
  for (std::size_t g = 0; g < ways * entries; ++g) {
    const std::size_t direction = g / entries, entry = g % entries;
    Sequence sequence{attributes_,
                      std::span(attributes_.activations).subspan(direction * calls, calls),
                      units,
                      part(known[1], direction, rows * units),
                      part(known[2], direction, rows),
                      part(known[6], direction, 3 * units),
                      state_of(part(known[4], g, units), units),
                      state_of(part(known[5], g, units), units)};
    const std::int64_t length =
        known[3].defined()
            ? std::clamp<std::int64_t>(static_cast<std::int64_t>(known[3].elements<double>()[entry]), 0, steps)
            : steps;
    for (std::int64_t step = 0; step < length; ++step) {
      const auto at = static_cast<std::size_t>(attributes_.backwards[direction] ? length - 1 - step : step);
      sequence.step(part(known[0], (at * entries + entry) * ways + direction, rows));
      std::ranges::copy(sequence.state, y.subspan((at * ways * entries + g) * units, units).begin());
    }
    std::ranges::copy(sequence.state, results[1].mutable_elements<double>().subspan(g * units, units).begin());
    std::ranges::copy(sequence.cell, results[2].mutable_elements<double>().subspan(g * units, units).begin());
  }
  if (attributes_.kind != RecurrentKind::long_short_term) results.pop_back();
  for (Tensor& result : results) result = evaluate_chain({}, {&result, 1}, inputs[0].dtype());
  return results;
}

}  // namespace lapilli
