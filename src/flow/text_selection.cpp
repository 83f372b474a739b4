// Unique of strings: which elements or slices are taken. What follows takes them (src/import/onnx/expand.cpp).
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "flow/host_elements.h"
#include "flow/host_tensors.h"
#include "flow/text.h"

namespace lapilli {
namespace {

/// A tensor as slices along an axis; without one, its elements in one row.
struct Slices {
  std::vector<std::int64_t> shape;
  std::size_t axis = 0, outer = 1, inner = 1;

  Slices(const Tensor& tensor, std::optional<std::size_t> along) : shape{tensor.element_count()} {
    if (!along) return;
    shape = tensor.shape();
    axis = *along;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(shape[i]);
    }
  }

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(shape[axis]); }

  // The elements of these slices, in the tensor's order.
  [[nodiscard]] std::vector<std::size_t> positions(std::span<const std::size_t> slices) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < outer; ++i) {
      for (const std::size_t slice : slices) {
        for (std::size_t j = 0; j < inner; ++j) result.push_back((i * count() + slice) * inner + j);
      }
    }
    return result;
  }
};

std::optional<std::size_t> wanted_axis(const HostCall& call) {
  if (call.node().find_attribute("axis") == nullptr) return std::nullopt;
  return axis_of(call.attribute<std::int64_t>("axis", 0), call.tensor(0).shape().size());
}

Tensor integers_of(std::span<const std::size_t> values) {
  const std::vector<std::int64_t> wide(values.begin(), values.end());
  return vector_of(std::span<const std::int64_t>(wide));
}

}  // namespace

void unique_text(HostCall& call) {
  const auto texts = strings_of(call, 0);
  const Slices slices(call.tensor(0), wanted_axis(call));
  struct Group {
    std::size_t first = 0, count = 0, place = 0;
  };
  std::map<std::vector<std::string_view>, Group> groups;
  std::vector<const Group*> group_of;
  for (std::size_t i = 0; i < slices.count(); ++i) {
    std::vector<std::string_view> key;
    for (const std::size_t position : slices.positions({&i, 1})) key.push_back(texts[position]);
    Group& group = groups.try_emplace(std::move(key), Group{i, 0, 0}).first->second;
    ++group.count;
    group_of.push_back(&group);
  }
  std::vector<Group*> ordered;
  for (auto& [key, group] : groups) ordered.push_back(&group);
  if (call.attribute<std::int64_t>("sorted", 1) == 0) std::ranges::sort(ordered, {}, &Group::first);
  std::vector<std::size_t> first, counts, inverse;
  for (Group* group : ordered) {
    group->place = first.size();
    first.push_back(group->first);
    counts.push_back(group->count);
  }
  for (const Group* group : group_of) inverse.push_back(group->place);
  const std::array<std::size_t, 1> count{first.size()};
  call.set_output(0, integers_of(first));
  call.set_output(1, integers_of(inverse));
  call.set_output(2, integers_of(counts));
  call.set_output(3, integers_of(count));
}

}  // namespace lapilli
