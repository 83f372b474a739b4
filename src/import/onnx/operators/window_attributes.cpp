#include "import/onnx/operators/window_attributes.h"

#include <format>
#include <limits>

namespace lapilli::onnx {
namespace {

std::vector<std::int64_t> list(NodeBuilder& node, std::string_view name, std::size_t count) {
  auto values = node.integers(name);
  if (!values) return std::vector<std::int64_t>(count, 1);
  if (values->size() != count) node.fail_model(std::format("{} {} for {} spatial axes", values->size(), name, count));
  for (const std::int64_t value : *values) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (value < 1 || value > most)
      node.fail_model(std::format("{} has the value {}; each is from 1 to {}", name, value, most));
  }
  return std::move(*values);
}

}  // namespace

WindowGeometry explicit_geometry(NodeBuilder& node, std::size_t spatial) {
  WindowGeometry geometry{list(node, "strides", spatial), list(node, "dilations", spatial),
                          std::vector<Dim>(spatial, Dim(0)), std::vector<Dim>(spatial, Dim(0))};
  if (const auto pads = node.integers("pads")) {
    if (pads->size() != 2 * spatial)
      node.fail_model(std::format("{} pads for {} spatial axes", pads->size(), spatial));
    for (std::size_t i = 0; i < spatial; ++i) {
      geometry.pads_begin[i] = (*pads)[i];
      geometry.pads_end[i] = (*pads)[i + spatial];
    }
  }
  return geometry;
}

WindowGeometry window_geometry(NodeBuilder& node, const std::vector<Dim>& kernel) {
  WindowGeometry geometry = explicit_geometry(node, kernel.size());
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return geometry;
  if (automatic != "VALID" && automatic != "SAME_UPPER" && automatic != "SAME_LOWER") {
    node.fail_model(std::format("auto_pad '{}' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER", automatic));
  }
  const Shape& shape = node.shape(node.input(0));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    geometry.pads_begin[i] = geometry.pads_end[i] = 0;
    if (automatic == "VALID") continue;
    // As many windows as strides in the input, rounded up; an odd pad goes last for SAME_UPPER.
    const Dim stride(geometry.strides[i]);
    const Dim windows = Dim::ceil_divide(shape[i + 2], stride);
    const Dim extent = (kernel[i] - Dim(1)) * Dim(geometry.dilations[i]) + Dim(1);
    const Dim missing = Dim::maximum((windows - Dim(1)) * stride + extent - shape[i + 2], 0);
    const Dim small = Dim::floor_divide(missing, 2), large = missing - small;
    geometry.pads_begin[i] = automatic == "SAME_UPPER" ? small : large;
    geometry.pads_end[i] = automatic == "SAME_UPPER" ? large : small;
  }
  return geometry;
}

}  // namespace lapilli::onnx
