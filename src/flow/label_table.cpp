#include "flow/label_table.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/failure.h"
#include "flow/host_elements.h"

namespace lapilli {
namespace {

// Zeros are one key, and so are all that are not a number.
std::uint64_t key_of(double value) {
  if (std::isnan(value)) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

}  // namespace

LabelTable::LabelTable(Tensor labels) : labels_(std::move(labels)) {
  if (labels_.dtype() == DType::string) {
    for (std::size_t i = 0; i < labels_.strings().size(); ++i) texts_[labels_.strings()[i]] = i;
  } else if (is_floating_point(labels_.dtype())) {
    const Tensor wide = convert_elements(labels_, DType::float64);
    for (std::size_t i = 0; i < wide.elements<double>().size(); ++i) reals_[key_of(wide.elements<double>()[i])] = i;
  } else {
    const Tensor wide = convert_elements(labels_, DType::int64);
    for (std::size_t i = 0; i < wide.elements<std::int64_t>().size(); ++i) {
      integers_[wide.elements<std::int64_t>()[i]] = i;
    }
  }
}

std::vector<std::size_t> LabelTable::find(const Tensor& tensor) const {
  if ((tensor.dtype() == DType::string) != (labels_.dtype() == DType::string)) {
    fail(ErrorCode::invalid_model, "elements of {} among labels of {}", to_string(tensor.dtype()),
         to_string(labels_.dtype()));
  }
  std::vector<std::size_t> places;
  const auto add = [&](const auto& table, const auto& key) {
    const auto found = table.find(key);
    places.push_back(found == table.end() ? missing : found->second);
  };
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.strings()) add(texts_, std::string_view(text));
  } else if (is_floating_point(labels_.dtype())) {
    const Tensor wide = convert_elements(tensor, DType::float64);
    for (const double value : wide.elements<double>()) add(reals_, key_of(value));
  } else {
    const Tensor wide = convert_elements(tensor, DType::int64);
    for (const std::int64_t value : wide.elements<std::int64_t>()) add(integers_, value);
  }
  return places;
}

}  // namespace lapilli
