#include "ops/text_numbers.h"

namespace lapilli {

Tensor TextNumbers::encode(const Tensor& strings) {
  Tensor result = Tensor::allocate(DType::int64, strings.shape());
  auto number = result.mutable_elements<std::int64_t>().begin();
  for (const std::string& text : strings.strings()) {
    const auto [place, added] = numbers_.try_emplace(text, static_cast<std::int64_t>(strings_.size()));
    if (added) strings_.emplace_back(text);
    *number++ = place->second;
  }
  return result;
}

Tensor TextNumbers::decode(const Tensor& numbers) const {
  std::vector<std::string> result;
  for (const std::int64_t number : numbers.elements<std::int64_t>())
    result.emplace_back(strings_[static_cast<std::size_t>(number)]);
  return Tensor::of_strings(numbers.shape(), std::move(result));
}

}  // namespace lapilli
