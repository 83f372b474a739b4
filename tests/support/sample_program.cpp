#include "support/sample_program.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/kernel_table.h"
#include "program/pack.h"
#include "program/program_file_header.h"

namespace lapilli {
namespace {

Tensor counted(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  std::uint8_t next = 1;
  for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(next++);
  return tensor;
}

Tensor floats(std::vector<std::int64_t> shape) {
  Tensor tensor = Tensor::allocate(DType::float32, std::move(shape));
  const auto elements = tensor.mutable_elements<float>();
  std::iota(elements.begin(), elements.end(), 1.0F);
  return tensor;
}

void add_constant(Program& program, const Tensor& source, const Packing& packing) {
  const auto segment = static_cast<std::uint32_t>(program.segments.size());
  program.segments.push_back({SegmentKind::constant, (packed_bytes(packing) + 7) / 4 * 4});
  program.constants.push_back({segment, source, packing});
}

// One that binds `first` as its parameters and then `others` as often as the kernel wants buffers.
Dispatch dispatch(const PipelineSpec& spec, const Binding& first, const std::vector<Binding>& others) {
  const KernelModule& kernel = *find_kernel(spec.kernel);
  Dispatch result;
  result.bindings = {first};
  while (result.bindings.size() < kernel.bindings.size()) {
    result.bindings.push_back(others[std::min(result.bindings.size() - 1, others.size() - 1)]);
  }
  result.push_constants.assign(kernel.push_constant_bytes / 4, 7);
  result.groups = {3, 2, 1};
  result.work = 1000;
  return result;
}

}  // namespace

CompiledProgram sample_program() {
  CompiledProgram compiled;
  Program& program = compiled.program;
  program.segments = {{SegmentKind::input, 64},
                      {SegmentKind::output, 64},
                      {SegmentKind::arena, 1024},
                      {SegmentKind::parameters, 512}};
  program.parameters.assign(512, 5);
  const Tensor matrix = floats({2, 3});
  // Transposed, filled up with zeros, and rounded.
  add_constant(program, matrix, {DType::float16, {3, 4}, {3, 2}, {1, 3}, 0});
  add_constant(program, matrix, {DType::float16, {3, 4}, {3, 2}, {1, 3}, 0});
  for (const DType dtype : {DType::int8, DType::boolean, DType::int4, DType::float4e2m1, DType::float16, DType::int64,
                            DType::float8e5m2, DType::float6e3m2}) {
    const Tensor tensor = counted(dtype, {2, 5});
    add_constant(program, tensor, dense_packing(dtype, tensor.shape()));
  }
  add_constant(program, floats({0, 3}), dense_packing(DType::float32, {0, 3}));
  program.pipelines = {{"pointwise.narrow", {1, 8}, 0}, {"gather.base", {1, 16, 3}, 0}};
  const Binding parameters{3, 0, 512, Access::read};
  program.steps.emplace_back(
      dispatch(program.pipelines[0], parameters,
               {{2, 256, 128, Access::write, {16, 16, 64}}, {0, 0, 64, Access::read}, {4, 0, 28, Access::read}}));
  program.steps.emplace_back(Barrier{});
  program.steps.emplace_back(
      dispatch(program.pipelines[1], parameters, {{1, 0, 64, Access::write}, {2, 256, 128, Access::read}}));
  std::get<Dispatch>(program.steps.back()).pipeline = 1;
  std::get<Dispatch>(program.steps.back()).origin = 1;
  program.inputs = {{"x", DType::float32, {2, 8}, 0}, {"codes", DType::uint4, {5}, 0}};
  program.outputs = {{"y", DType::int32, {}, 1}};
  program.origins = {"node 'first' (Add)", "node 'second' (Gather)"};
  compiled.report = {2, 1, 2, 2, 1024, 512, 2048, 0, {{"t", 256, 128, 0, 1}, {"", 0, 1024, 1, 1}}};
  for (const Segment& segment : program.segments) {
    if (segment.kind == SegmentKind::constant) compiled.report.weight_bytes += segment.size;
  }
  compiled.traits.name = "a device";
  compiled.traits.storage_8bit = compiled.traits.storage_16bit = true;
  compiled.traits.max_storage_buffers = 32;
  compiled.traits.matrix_shapes = {{16, 8, 4, DType::float16, DType::int8, DType::float32}};
  compiled.traits.compute_units = 3;
  compiled.sizes = {{"batch", 2}, {"axes[0]", -0}};
  compiled.precision = Precision::float16;
  compiled.model = "made by hand";
  return compiled;
}

void mend_program_file(std::span<std::byte> file) {
  ProgramFileHeader header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  const std::uint64_t behind = file.size() - sizeof header;
  const ProgramFileHeader expected;
  header.magic = expected.magic;
  header.format = expected.format;
  header.header_size = expected.header_size;
  header.kernels_hash = kernels_hash();
  header.description_size = std::min(header.description_size, behind);
  const std::uint64_t least = sizeof header + header.description_size;
  if (header.constants_offset < least || header.constants_offset > file.size() ||
      header.constants_offset % program_file_alignment != 0) {
    header.constants_offset = (least + program_file_alignment - 1) / program_file_alignment * program_file_alignment;
    if (header.constants_offset > file.size()) {
      header.constants_offset = file.size() / program_file_alignment * program_file_alignment;
      header.description_size = header.constants_offset - sizeof header;
    }
  }
  header.constants_size = file.size() - header.constants_offset;
  header.description_hash = XXH3_64bits(file.data() + sizeof header, header.description_size);
  std::memcpy(file.data(), &header, sizeof header);
}

}  // namespace lapilli
