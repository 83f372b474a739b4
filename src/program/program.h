#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lapilli/tensor.h"

namespace lapilli {

/// What a range of device memory is for; it decides where the memory comes from and who may write it.
enum class SegmentKind : std::uint8_t {
  arena,       ///< intermediate results of one run; contents do not outlive it
  constant,    ///< a packed weight, resident, shared by every Program of a model
  input,       ///< written by the caller before a run
  output,      ///< read by the caller after a run
  parameters,  ///< Program::parameters, read by the kernels as uniform buffers
};

/// A range of device memory that a Program needs, addressed by its index.
struct Segment {
  SegmentKind kind = SegmentKind::arena;
  std::uint64_t size = 0;  ///< bytes
};

/// How a constant lies on the device: a dense row-major tensor of `dtype` and `shape` whose element at index i is
/// the source element at source_offset + sum(i[d] * source_stride[d]), or 0 where any i[d] >= source_extent[d].
/// Offsets and strides count elements of the source.
struct Packing {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> source_extent;
  std::vector<std::int64_t> source_stride;
  std::int64_t source_offset = 0;
  friend bool operator==(const Packing&, const Packing&) = default;
};

/// The contents of a segment of kind constant.
struct Constant {
  std::uint32_t segment = 0;
  Tensor source;  ///< shares the model file's memory
  Packing packing;
};

/// A kernel with its specialization constants: what the driver compiles.
struct PipelineSpec {
  std::string kernel;                         ///< a name of the kernel table, such as "pointwise.base"
  std::vector<std::uint32_t> specialization;  ///< the value of constant_id i at index i
  std::uint32_t subgroup_size = 0;            ///< required subgroup size; 0 leaves it to the driver
  friend auto operator<=>(const PipelineSpec&, const PipelineSpec&) = default;
};

enum class Access : std::uint8_t { read, write, read_write };

/// Some bytes of a range: `run` of every `pitch`, from `begin` on. A run of 0 stands for all bytes.
struct Stripes {
  std::uint64_t begin = 0, run = 0, pitch = 0;
  friend bool operator==(const Stripes&, const Stripes&) = default;
};

/// One storage or uniform buffer of a dispatch. Its index in Dispatch::bindings is the binding number.
struct Binding {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;  ///< bytes, a multiple of DeviceTraits::storage_alignment
  std::uint64_t size = 0;    ///< bytes, at least 4
  Access access = Access::read;
  Stripes touched{};  ///< what the dispatch reads or writes of it: begin + run <= pitch; the size is pitches and less
                      ///< than a word
};

struct Dispatch {
  std::uint32_t pipeline = 0;  ///< index into Program::pipelines
  std::vector<Binding> bindings;
  std::vector<std::uint32_t> push_constants;
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::uint32_t origin = 0;  ///< index into Program::origins
  std::uint64_t work = 0;    ///< about how many operations, or loads and stores where these are more
};

/// Everything before it is complete and visible to everything after it.
struct Barrier {};

using Step = std::variant<Dispatch, Barrier>;

/// A value that goes in or comes out, by the model's own name.
struct Port {
  std::string name;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> shape;
  std::uint32_t segment = 0;  ///< dense row-major elements from its byte 0 on
};

/// All work of one run for one set of input sizes. A plain value: reading it tells all that the GPU will do.
struct Program {
  std::vector<Segment> segments;
  std::vector<Constant> constants;
  std::vector<std::uint8_t> parameters;  ///< the contents of the segment of kind parameters, if there is one
  std::vector<PipelineSpec> pipelines;
  std::vector<Step> steps;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<std::string> origins;  ///< the model's nodes that a dispatch comes from, for reports and errors
};

}  // namespace lapilli
