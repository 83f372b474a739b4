// Maps: keys with a value each. They are made of tensors, and tensors of them, outside the device.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "flow/host_elements.h"
#include "flow/host_tensors.h"
#include "flow/label_table.h"
#include "flow/text.h"

namespace lapilli {
namespace {

using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

// The one of two lists that is there, strings or integers.
Tensor keys_of(const HostCall& call, const std::string& texts_name, const std::string& integers_name) {
  const auto texts = call.attribute<Texts>(texts_name, {});
  const auto integers = call.attribute<Integers>(integers_name, {});
  if (texts.empty() == integers.empty()) {
    fail(ErrorCode::invalid_model, "{} and {} have {} and {} elements, one of them is needed", texts_name,
         integers_name, texts.size(), integers.size());
  }
  return texts.empty() ? vector_of(integers) : vector_of(texts);
}

// A map for each row.
void zip_maps(HostCall& call) {
  const Tensor keys = keys_of(call, "classlabels_strings", "classlabels_int64s");
  const Tensor& tensor = call.tensor(0);
  const std::vector<std::int64_t>& shape = tensor.shape();
  if (shape.empty() || shape.size() > 2 || shape.back() != keys.element_count()) {
    fail(ErrorCode::invalid_model, "{}{} has no column for each of {} labels", to_string(tensor.dtype()),
         shape_text(shape), keys.element_count());
  }
  const std::int64_t rows = shape.size() == 1 ? 1 : shape[0];
  const Tensor table = tensor.reshaped({rows, shape.back()});
  std::vector<Value> maps;
  for (std::int64_t i = 0; i < rows; ++i) {
    maps.push_back(Value::map(keys, cut_tensor(table, 0, i, 1).reshaped({shape.back()})));
  }
  call.set_output(0, Value::sequence(std::move(maps)));
}

const Map& simple_map(const HostCall& call) {
  const Map& map = call.input(0).map();
  if (map.values.shape().size() != 1) {
    fail(ErrorCode::invalid_model, "the values of the map are {}{}, single ones are needed",
         to_string(map.values.dtype()), shape_text(map.values.shape()));
  }
  return map;
}

// The values at these places of a map, and where there is none, zero or no text.
Tensor values_at(const Tensor& values, std::vector<std::size_t> places, const Tensor& otherwise) {
  const std::array parts{values, otherwise};
  for (std::size_t& place : places) {
    if (place == LabelTable::missing) place = static_cast<std::size_t>(values.element_count());
  }
  return take_elements(join_tensors(parts, 0, false), places, {1, static_cast<std::int64_t>(places.size())});
}

void vectorize_map(HostCall& call) {
  const Tensor vocabulary = keys_of(call, "string_vocabulary", "int64_vocabulary");
  const Map& map = simple_map(call);
  const Tensor nothing = Tensor::allocate(map.values.dtype(), {1});
  call.set_output(0, values_at(map.values, LabelTable(map.keys).find(vocabulary), nothing));
}

Tensor cast_values(const HostCall& call, const Tensor& values) {
  const auto name = call.attribute<std::string>("cast_to", "TO_FLOAT");
  if (name == "TO_FLOAT") return cast_elements(values, DType::float32);
  if (name == "TO_INT64") return cast_elements(values, DType::int64);
  if (name == "TO_STRING") return cast_elements(values, DType::string);
  fail(ErrorCode::invalid_model, "cast_to is '{}'", onnx::printable(name));
}

// All values in the order of their keys, or up to max_map of them, each at the place that its key says.
void cast_map(HostCall& call) {
  const Map& map = simple_map(call);
  if (map.keys.dtype() != DType::int64) fail(ErrorCode::invalid_model, "the keys of the map are strings");
  const Tensor values = cast_values(call, map.values);
  std::map<std::int64_t, std::size_t> order;
  for (const std::int64_t key : map.keys.elements<std::int64_t>()) order.emplace(key, order.size());
  const auto form = call.attribute<std::string>("map_form", "DENSE");
  std::vector<std::size_t> places;
  if (form == "DENSE") {
    for (const auto& [key, place] : order) places.push_back(place);
  } else if (form == "SPARSE") {
    if (!order.empty() && order.begin()->first < 0) {
      fail(ErrorCode::invalid_model, "key {} of the map says no place", order.begin()->first);
    }
    const auto count = call.attribute<std::int64_t>("max_map", 1);
    if (count < 0) fail(ErrorCode::invalid_model, "max_map is {}", count);
    places.assign(host_element_count(std::array{count}), LabelTable::missing);
    for (const auto& [key, place] : order) {
      if (key < count) places[static_cast<std::size_t>(key)] = place;
    }
  } else {
    fail(ErrorCode::invalid_model, "map_form is '{}'", onnx::printable(form));
  }
  // What ONNX Runtime writes where a key is missing.
  const Tensor nothing =
      values.dtype() == DType::string ? Tensor::of_strings({1}, {"0.f"}) : Tensor::allocate(values.dtype(), {1});
  call.set_output(0, values_at(values, std::move(places), nothing));
}

constexpr std::string_view reason = "maps are the host's", domain = "ai.onnx.ml";

constexpr std::array operators{
    HostOperator{"CastMap", 1, cast_map, reason, domain},
    HostOperator{"DictVectorizer", 1, vectorize_map, reason, domain},
    HostOperator{"ZipMap", 1, zip_maps, reason, domain},
};

}  // namespace

std::span<const HostOperator> map_operators() { return operators; }

}  // namespace lapilli
