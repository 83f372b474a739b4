#include "ir/fact.h"

#include <algorithm>
#include <format>

#include "base/checked.h"

namespace lapilli {
namespace {

// Longer ones are data, not shape arithmetic; reading them as expressions would only cost memory.
constexpr std::int64_t most_elements = 4096;

template <class T>
std::vector<Dim> read_integers(const Tensor& tensor) {
  std::vector<Dim> result;
  for (const T value : tensor.elements<T>()) result.emplace_back(static_cast<std::int64_t>(value));
  return result;
}

}  // namespace

Fact Fact::of_constant(Tensor tensor) {
  Fact fact{tensor.dtype(), to_shape(tensor.shape()), {}, std::nullopt};
  fact.constant = std::move(tensor);
  return fact;
}

Fact Fact::of_elements(DType dtype, Shape shape, std::vector<Dim> elements) {
  Fact fact = of(dtype, std::move(shape));
  const auto numbers = to_numbers(elements);
  const auto sizes = to_numbers(fact.shape);
  if (!numbers || !sizes) {
    fact.elements = std::move(elements);
  } else if (dtype == DType::int64) {
    fact.constant = Tensor::of<std::int64_t>(dtype, *sizes, *numbers);
  } else {
    std::vector<std::int32_t> narrow;
    for (const std::int64_t number : *numbers) narrow.push_back(checked_cast<std::int32_t>(number));
    fact.constant = Tensor::of<std::int32_t>(dtype, *sizes, narrow);
  }
  return fact;
}

std::optional<std::vector<Dim>> Fact::integers() const {
  if (elements) return elements;
  if (!constant.defined() || constant.element_count() > most_elements) return std::nullopt;
  switch (dtype) {
    case DType::int64: return read_integers<std::int64_t>(constant);
    case DType::int32: return read_integers<std::int32_t>(constant);
    case DType::boolean: return read_integers<std::uint8_t>(constant);
    default: return std::nullopt;
  }
}

std::string Fact::to_string() const { return std::format("{}{}", lapilli::to_string(dtype), shape_text(shape)); }

}  // namespace lapilli
