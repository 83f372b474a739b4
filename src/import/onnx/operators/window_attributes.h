#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {

/// Strides, dilations and pads of convolutions and pools, one entry a spatial axis.
struct WindowGeometry {
  std::vector<std::int64_t> strides, dilations;
  std::vector<Dim> pads_begin, pads_end;
};

/// The attributes `strides`, `dilations` and `pads` as they are, with their defaults.
WindowGeometry explicit_geometry(NodeBuilder& node, std::size_t spatial);

/// The same with `auto_pad` worked out for input 0 and windows of these sizes.
WindowGeometry window_geometry(NodeBuilder& node, const std::vector<Dim>& kernel);

}  // namespace lapilli::onnx
