#include <flatbuffers/flatbuffers.h>
#include <xxhash.h>

#include <bit>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/checked.h"
#include "base/packed.h"
#include "kernels/kernel_table.h"
#include "program/pack.h"
#include "program/program_file.h"
#include "program/program_file_header.h"
#include "program_generated.h"

namespace lapilli {
namespace {

namespace format = program_format;
using flatbuffers::Offset;

static_assert(std::endian::native == std::endian::little, "the header and the constants are written as they lie");

template <class E>
std::uint8_t number_of(E enumerator) {
  return static_cast<std::uint8_t>(enumerator);
}

// Packed types lie unpacked on the device, one element a byte.
DType device_dtype(DType dtype) {
  if (!is_packed(dtype)) return dtype;
  return is_signed_integer(dtype) ? DType::int8 : DType::uint8;
}

/// Where constants lie behind the description. Those that are the same, as to ResidentConstants, are written once.
class ConstantPlaces {
 public:
  explicit ConstantPlaces(const std::vector<Constant>& constants) {
    for (const Constant& constant : constants) {
      const Packing& packing = constant.packing;
      const Key key{constant.source.bytes().data(), constant.source.dtype(), packing.dtype,        packing.shape,
                    packing.source_extent,          packing.source_stride,   packing.source_offset};
      const auto [found, is_new] = places_.try_emplace(key, size_);
      offsets_.push_back(found->second);
      if (!is_new) continue;
      written_.push_back(&constant);
      size_ = align_up(checked_add(size_, packed_bytes(packing)), program_file_alignment);
    }
  }

  [[nodiscard]] std::uint64_t offset(std::size_t constant) const { return offsets_[constant]; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  void write(std::ostream& file) const {
    std::vector<std::byte> bytes;
    for (const Constant* constant : written_) {
      const std::uint64_t size = packed_bytes(constant->packing);
      bytes.assign(align_up(size, program_file_alignment), std::byte{0});
      pack(constant->source, constant->packing, std::span(bytes).first(size));
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }

 private:
  using Shape = std::vector<std::int64_t>;
  using Key = std::tuple<const std::byte*, DType, DType, Shape, Shape, Shape, std::int64_t>;

  std::map<Key, std::uint64_t> places_;
  std::vector<std::uint64_t> offsets_;  // of each constant
  std::vector<const Constant*> written_;
  std::uint64_t size_ = 0;
};

/// Tables are made before those that hold them.
class DescriptionWriter {
 public:
  DescriptionWriter(const CompiledProgram& compiled, const ConstantPlaces& places)
      : compiled_(compiled), program_(compiled.program), places_(places) {}

  std::span<const std::uint8_t> write() {
    const auto model = text(compiled_.model);
    const auto sizes = write_sizes();
    const auto traits = write_traits(compiled_.traits);
    const auto report = write_report(compiled_.report);
    const auto segments = write_segments();
    const auto constants = write_constants();
    const auto parameters = builder_.CreateVector(program_.parameters);
    const auto pipelines = write_pipelines();
    const auto steps = write_steps();
    const auto inputs = write_ports(program_.inputs);
    const auto outputs = write_ports(program_.outputs);
    const auto origins = builder_.CreateVectorOfStrings(program_.origins);
    builder_.Finish(format::CreateDescription(builder_, model, number_of(compiled_.precision), sizes, traits, report,
                                              segments, constants, parameters, pipelines, steps, inputs, outputs,
                                              origins));
    return {builder_.GetBufferPointer(), builder_.GetSize()};
  }

 private:
  Offset<flatbuffers::String> text(const std::string& value) { return builder_.CreateString(value); }

  template <class T>
  Offset<flatbuffers::Vector<Offset<T>>> tables(const std::vector<Offset<T>>& offsets) {
    return builder_.CreateVector(offsets);
  }

  Offset<flatbuffers::Vector<Offset<format::Size>>> write_sizes() {
    std::vector<Offset<format::Size>> sizes;
    for (const auto& [name, size] : compiled_.sizes) {
      sizes.push_back(format::CreateSize(builder_, text(name), size));
    }
    return tables(sizes);
  }

  static format::Groups groups(const std::array<std::uint32_t, 3>& counts) {
    return {counts[0], counts[1], counts[2]};
  }

  Offset<format::Device> write_traits(const DeviceTraits& traits) {
    const auto name = text(traits.name);
    std::vector<format::MatrixShape> shapes;
    for (const MatrixShape& shape : traits.matrix_shapes) {
      shapes.emplace_back(shape.m, shape.n, shape.k, number_of(shape.a), number_of(shape.b),
                          number_of(shape.accumulator));
    }
    const auto matrix_shapes = builder_.CreateVectorOfStructs(shapes);
    const format::Groups max_groups = groups(traits.max_groups), max_group_size = groups(traits.max_group_size);
    format::DeviceBuilder table(builder_);
    table.add_name(name);
    table.add_software(traits.software);
    table.add_storage_8bit(traits.storage_8bit);
    table.add_storage_16bit(traits.storage_16bit);
    table.add_float16(traits.float16);
    table.add_int8(traits.int8);
    table.add_int16(traits.int16);
    table.add_int64(traits.int64);
    table.add_float64(traits.float64);
    table.add_subgroup_size_control(traits.subgroup_size_control);
    table.add_subgroup_arithmetic(traits.subgroup_arithmetic);
    table.add_subgroup_shuffle(traits.subgroup_shuffle);
    table.add_cooperative_matrix(traits.cooperative_matrix);
    table.add_matrix_shapes(matrix_shapes);
    table.add_max_groups(&max_groups);
    table.add_max_group_size(&max_group_size);
    table.add_max_group_invocations(traits.max_group_invocations);
    table.add_max_shared_memory(traits.max_shared_memory);
    table.add_max_push_constants(traits.max_push_constants);
    table.add_max_storage_buffers(traits.max_storage_buffers);
    table.add_max_storage_range(traits.max_storage_range);
    table.add_max_uniform_range(traits.max_uniform_range);
    table.add_max_allocation(traits.max_allocation);
    table.add_storage_alignment(traits.storage_alignment);
    table.add_uniform_alignment(traits.uniform_alignment);
    table.add_subgroup_size(traits.subgroup_size);
    table.add_min_subgroup_size(traits.min_subgroup_size);
    table.add_max_subgroup_size(traits.max_subgroup_size);
    table.add_compute_units(traits.compute_units);
    return table.Finish();
  }

  Offset<format::Report> write_report(const PlanReport& report) {
    std::vector<Offset<format::Block>> blocks;
    for (const ArenaBlock& block : report.blocks) {
      blocks.push_back(
          format::CreateBlock(builder_, text(block.name), block.offset, block.size, block.first, block.last));
    }
    return format::CreateReport(builder_, report.levels, report.lower_bound_bytes, report.unshared_bytes,
                                tables(blocks));
  }

  Offset<flatbuffers::Vector<const format::Segment*>> write_segments() {
    std::vector<format::Segment> segments;
    for (const Segment& segment : program_.segments) segments.emplace_back(segment.size, number_of(segment.kind));
    return builder_.CreateVectorOfStructs(segments);
  }

  Offset<flatbuffers::Vector<Offset<format::Constant>>> write_constants() {
    std::vector<Offset<format::Constant>> constants;
    for (std::size_t i = 0; i < program_.constants.size(); ++i) {
      const Constant& constant = program_.constants[i];
      const auto shape = builder_.CreateVector(constant.packing.shape);
      constants.push_back(format::CreateConstant(
          builder_, constant.segment, number_of(device_dtype(constant.packing.dtype)), shape, places_.offset(i)));
    }
    return tables(constants);
  }

  Offset<flatbuffers::Vector<Offset<format::Pipeline>>> write_pipelines() {
    std::vector<Offset<format::Pipeline>> pipelines;
    for (const PipelineSpec& spec : program_.pipelines) {
      const auto kernel = text(spec.kernel);
      const auto specialization = builder_.CreateVector(spec.specialization);
      pipelines.push_back(format::CreatePipeline(builder_, kernel, specialization, spec.subgroup_size));
    }
    return tables(pipelines);
  }

  Offset<flatbuffers::Vector<Offset<format::Step>>> write_steps() {
    std::vector<Offset<format::Step>> steps;
    for (const Step& step : program_.steps) {
      const auto* dispatch = std::get_if<Dispatch>(&step);
      const auto table = dispatch == nullptr ? Offset<format::Dispatch>() : write_dispatch(*dispatch);
      steps.push_back(format::CreateStep(builder_, table));
    }
    return tables(steps);
  }

  Offset<format::Dispatch> write_dispatch(const Dispatch& dispatch) {
    std::vector<format::Binding> bindings;
    for (const Binding& binding : dispatch.bindings) {
      const format::Stripes touched(binding.touched.begin, binding.touched.run, binding.touched.pitch);
      bindings.emplace_back(binding.offset, binding.size, touched, binding.segment, number_of(binding.access));
    }
    const auto bound = builder_.CreateVectorOfStructs(bindings);
    const auto pushed = builder_.CreateVector(dispatch.push_constants);
    const format::Groups counts = groups(dispatch.groups);
    return format::CreateDispatch(builder_, dispatch.pipeline, bound, pushed, &counts, dispatch.origin,
                                  dispatch.work);
  }

  Offset<flatbuffers::Vector<Offset<format::Port>>> write_ports(const std::vector<Port>& ports) {
    std::vector<Offset<format::Port>> tables_of_ports;
    for (const Port& port : ports) {
      const auto name = text(port.name);
      const auto shape = builder_.CreateVector(port.shape);
      tables_of_ports.push_back(format::CreatePort(builder_, name, number_of(port.dtype), shape, port.segment));
    }
    return tables(tables_of_ports);
  }

  const CompiledProgram& compiled_;
  const Program& program_;
  const ConstantPlaces& places_;
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

void write_program_file(const std::filesystem::path& path, const CompiledProgram& compiled) {
  const ConstantPlaces places(compiled.program.constants);
  DescriptionWriter writer(compiled, places);
  const std::span<const std::uint8_t> description = writer.write();
  ProgramFileHeader header;
  header.kernels_hash = kernels_hash();
  header.description_size = description.size();
  header.description_hash = XXH3_64bits(description.data(), description.size());
  header.constants_offset = align_up<std::uint64_t>(sizeof header + description.size(), program_file_alignment);
  header.constants_size = places.size();
  write_atomically(path, [&](std::ostream& file) {
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(description.data()), static_cast<std::streamsize>(description.size()));
    const std::string gap(header.constants_offset - sizeof header - description.size(), '\0');
    file.write(gap.data(), static_cast<std::streamsize>(gap.size()));
    places.write(file);
  });
}

}  // namespace lapilli
