// Operators of ai.onnx.ml that look labels up in a table: strings, or numbers of any type.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "flow/host_elements.h"
#include "flow/host_tensors.h"
#include "flow/label_table.h"

namespace lapilli {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<float>;
using Texts = std::vector<std::string>;

Tensor text_scalar(std::string text) { return Tensor::of_strings({}, {std::move(text)}); }

Tensor integer_scalar(std::int64_t value) {
  return Tensor::of<std::int64_t>(DType::int64, {}, std::span<const std::int64_t>(&value, 1));
}

Tensor real_scalar(float value) { return Tensor::of<float>(DType::float32, {}, std::span<const float>(&value, 1)); }

// The elements of `values` at the places of the labels, or the other one.
Tensor labels_at(std::span<const std::size_t> places, const Tensor& values, const Tensor& otherwise,
                 std::vector<std::int64_t> shape) {
  const std::array parts{values, otherwise.reshaped({1})};
  const Tensor all = join_tensors(parts, 0, false);
  std::vector<std::size_t> positions;
  for (const std::size_t place : places) {
    positions.push_back(place == LabelTable::missing ? static_cast<std::size_t>(values.element_count()) : place);
  }
  return take_elements(all, positions, std::move(shape));
}

// The attribute that is there of "keys_tensor", "keys_strings", ...
Tensor list_of(const HostCall& call, const std::string& prefix) {
  if (const auto* tensor = call.node().find<Tensor>(prefix + "_tensor")) {
    return tensor->reshaped({tensor->element_count()});
  }
  if (const auto* texts = call.node().find<Texts>(prefix + "_strings")) return vector_of(std::span(*texts));
  if (const auto* integers = call.node().find<Integers>(prefix + "_int64s")) return vector_of(std::span(*integers));
  if (const auto* reals = call.node().find<Reals>(prefix + "_floats")) return vector_of(std::span(*reals));
  fail(ErrorCode::invalid_model, "the node has no {}", prefix);
}

Tensor default_for(const HostCall& call, DType dtype) {
  if (const auto* tensor = call.node().find<Tensor>("default_tensor")) {
    if (tensor->element_count() != 1 || tensor->dtype() != dtype) {
      fail(ErrorCode::invalid_model, "default_tensor is {}{} where the values are {}", to_string(tensor->dtype()),
           shape_text(tensor->shape()), to_string(dtype));
    }
    return *tensor;
  }
  if (dtype == DType::string) return text_scalar(call.attribute<std::string>("default_string", "_Unused"));
  if (is_floating_point(dtype)) return convert_elements(real_scalar(call.attribute("default_float", -0.0F)), dtype);
  return convert_elements(integer_scalar(call.attribute<std::int64_t>("default_int64", -1)), dtype);
}

void encode_labels(HostCall& call) {
  const Tensor keys = list_of(call, "keys"), values = list_of(call, "values");
  if (keys.element_count() != values.element_count()) {
    fail(ErrorCode::invalid_model, "{} keys and {} values", keys.element_count(), values.element_count());
  }
  const Tensor& tensor = call.tensor(0);
  call.set_output(
      0, labels_at(LabelTable(keys).find(tensor), values, default_for(call, values.dtype()), tensor.shape()));
}

Tensor counted(std::int64_t count) {
  Integers numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return vector_of(numbers);
}

// Strings to the integers beside them, integers to the strings.
void map_categories(HostCall& call, const Tensor& texts, const Tensor& integers) {
  const Tensor& tensor = call.tensor(0);
  if (texts.element_count() != integers.element_count()) {
    fail(ErrorCode::invalid_model, "{} strings and {} integers", texts.element_count(), integers.element_count());
  }
  const bool from_text = tensor.dtype() == DType::string;
  const Tensor &keys = from_text ? texts : integers, &values = from_text ? integers : texts;
  call.set_output(
      0, labels_at(LabelTable(keys).find(tensor), values, default_for(call, values.dtype()), tensor.shape()));
}

// Opset 1 numbers its classes by where they stand.
void encode_classes(HostCall& call) {
  const auto classes = call.attribute<Texts>("classes_strings", {});
  map_categories(call, vector_of(classes), counted(static_cast<std::int64_t>(classes.size())));
}

void map_named_categories(HostCall& call) {
  map_categories(call, vector_of(call.attribute<Texts>("cats_strings", {})),
                 vector_of(call.attribute<Integers>("cats_int64s", {})));
}

void encode_one_hot(HostCall& call) {
  const Tensor& tensor = call.tensor(0);
  const bool text = tensor.dtype() == DType::string;
  const Tensor categories = text ? vector_of(call.attribute<Texts>("cats_strings", {}))
                                 : vector_of(call.attribute<Integers>("cats_int64s", {}));
  const auto count = static_cast<std::size_t>(categories.element_count());
  const std::vector<std::size_t> places = LabelTable(categories).find(tensor);
  std::vector<std::int64_t> shape = tensor.shape();
  shape.push_back(categories.element_count());
  host_element_count(shape);
  Tensor result = Tensor::allocate(DType::float32, std::move(shape));
  const std::span<float> hot = result.mutable_elements<float>();
  const bool zeros = call.attribute<std::int64_t>("zeros", 1) != 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != LabelTable::missing) {
      hot[i * count + places[i]] = 1;
    } else if (!zeros) {
      fail(ErrorCode::invalid_argument, "element {} of input 0 is in no category", i);
    }
  }
  call.set_output(0, std::move(result));
}

constexpr std::string_view looks_up = "labels that are strings are looked up in a table", domain = "ai.onnx.ml";

constexpr std::array operators{
    HostOperator{"CategoryMapper", 1, map_named_categories, looks_up, domain},
    HostOperator{"LabelEncoder", 1, encode_classes, looks_up, domain},
    HostOperator{"LabelEncoder", 2, encode_labels, looks_up, domain},
    HostOperator{"OneHotEncoder", 1, encode_one_hot, looks_up, domain},
};

}  // namespace

std::span<const HostOperator> label_operators() { return operators; }

}  // namespace lapilli
