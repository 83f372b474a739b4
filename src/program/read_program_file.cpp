#include <flatbuffers/flatbuffers.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/packed.h"
#include "kernels/kernel_table.h"
#include "program/pack.h"
#include "program/program_file.h"
#include "program/program_file_header.h"
#include "program/verify.h"
#include "program/verify_kernels.h"
#include "program_generated.h"

namespace lapilli {
namespace {

namespace format = program_format;

// What a picture of the arena is drawn from: levels, and the levels that all blocks together are alive in.
constexpr std::uint64_t most_levels = std::uint64_t{1} << 20U, most_block_levels = std::uint64_t{1} << 28U;

template <class... Arguments>
[[noreturn]] void fail_damaged(std::format_string<Arguments...> text, Arguments&&... arguments) {
  fail(ErrorCode::invalid_model, text, std::forward<Arguments>(arguments)...);
}

template <class E>
E enumerator(std::uint8_t number, E last) {
  if (number > static_cast<std::uint8_t>(last)) fail_damaged("an enumeration has {}", number);
  return static_cast<E>(number);
}

DType dtype_of(std::uint8_t number) { return enumerator(number, DType::float6e3m2); }

/// Takes a verified description apart. What it copies is bounded by the size of the description: vectors that share
/// their bytes, which would make more of them, are refused.
class DescriptionReader {
 public:
  DescriptionReader(const format::Description& description, std::size_t description_size,
                    std::span<const std::byte> constants, std::shared_ptr<const void> owner)
      : description_(description), bytes_left_(description_size), constants_(constants), owner_(std::move(owner)) {}

  CompiledProgram read() {
    CompiledProgram compiled;
    compiled.model = text(description_.model());
    compiled.precision = enumerator(description_.precision(), Precision::float16);
    for (const format::Size* size : elements(description_.sizes())) {
      const std::string name = text(size->name());
      if (!compiled.sizes.emplace(name, size->size()).second) fail_damaged("size '{}' is there twice", name);
    }
    compiled.traits = read_traits(*description_.device());
    compiled.program = read_program();
    compiled.report = read_report(*description_.report(), compiled.program);
    return compiled;
  }

 private:
  template <class T>
  const flatbuffers::Vector<T>& elements(const flatbuffers::Vector<T>* vector) {
    take(vector->size() * std::uint64_t{sizeof(T)});
    return *vector;
  }

  // The verifier does not look whether these lie where the processor wants them.
  template <class T>
  const flatbuffers::Vector<const T*>& structs(const flatbuffers::Vector<const T*>* vector) {
    take(vector->size() * std::uint64_t{sizeof(T)});
    if (reinterpret_cast<std::uintptr_t>(vector->Data()) % alignof(T) != 0) fail_damaged("a vector is not aligned");
    return *vector;
  }

  template <class T>
  std::vector<T> numbers(const flatbuffers::Vector<T>* vector) {
    take(vector->size() * std::uint64_t{sizeof(T)});
    std::vector<T> result(vector->size());
    if (!result.empty()) std::memcpy(result.data(), vector->Data(), result.size() * sizeof(T));
    return result;
  }

  std::string text(const flatbuffers::String* string) {
    take(string->size());
    return string->str();
  }

  void take(std::uint64_t bytes) {
    if (bytes > bytes_left_) fail_damaged("its vectors share their bytes");
    bytes_left_ -= bytes;
  }

  static std::array<std::uint32_t, 3> groups(const format::Groups& groups) {
    return {groups.x(), groups.y(), groups.z()};
  }

  DeviceTraits read_traits(const format::Device& table) {
    DeviceTraits traits;
    traits.name = text(table.name());
    traits.software = table.software();
    traits.storage_8bit = table.storage_8bit();
    traits.storage_16bit = table.storage_16bit();
    traits.float16 = table.float16();
    traits.int8 = table.int8();
    traits.int16 = table.int16();
    traits.int64 = table.int64();
    traits.float64 = table.float64();
    traits.subgroup_size_control = table.subgroup_size_control();
    traits.subgroup_arithmetic = table.subgroup_arithmetic();
    traits.subgroup_shuffle = table.subgroup_shuffle();
    traits.cooperative_matrix = table.cooperative_matrix();
    for (const format::MatrixShape* shape : structs(table.matrix_shapes())) {
      traits.matrix_shapes.push_back({shape->m(), shape->n(), shape->k(), dtype_of(shape->a()), dtype_of(shape->b()),
                                      dtype_of(shape->accumulator())});
    }
    traits.max_groups = groups(*table.max_groups());
    traits.max_group_size = groups(*table.max_group_size());
    traits.max_group_invocations = table.max_group_invocations();
    traits.max_shared_memory = table.max_shared_memory();
    traits.max_push_constants = table.max_push_constants();
    traits.max_storage_buffers = table.max_storage_buffers();
    traits.max_storage_range = table.max_storage_range();
    traits.max_uniform_range = table.max_uniform_range();
    traits.max_allocation = table.max_allocation();
    traits.storage_alignment = table.storage_alignment();
    traits.uniform_alignment = table.uniform_alignment();
    traits.subgroup_size = table.subgroup_size();
    traits.min_subgroup_size = table.min_subgroup_size();
    traits.max_subgroup_size = table.max_subgroup_size();
    traits.compute_units = table.compute_units();
    if (!std::has_single_bit(traits.storage_alignment) || !std::has_single_bit(traits.uniform_alignment)) {
      fail_damaged("offsets are multiples of {} and {}", traits.storage_alignment, traits.uniform_alignment);
    }
    return traits;
  }

  Program read_program() {
    Program program;
    for (const format::Segment* segment : structs(description_.segments())) {
      program.segments.push_back({enumerator(segment->kind(), SegmentKind::parameters), segment->size()});
    }
    for (const format::Constant* constant : elements(description_.constants())) {
      program.constants.push_back(read_constant(*constant));
    }
    program.parameters = numbers(description_.parameters());
    for (const format::Pipeline* pipeline : elements(description_.pipelines())) {
      program.pipelines.push_back(
          {text(pipeline->kernel()), numbers(pipeline->specialization()), pipeline->subgroup_size()});
    }
    for (const format::Step* step : elements(description_.steps())) {
      if (const format::Dispatch* dispatch = step->dispatch()) {
        program.steps.emplace_back(read_dispatch(*dispatch));
      } else {
        program.steps.emplace_back(Barrier{});
      }
    }
    program.inputs = read_ports(description_.inputs());
    program.outputs = read_ports(description_.outputs());
    for (const flatbuffers::String* origin : elements(description_.origins())) {
      program.origins.push_back(text(origin));
    }
    return program;
  }

  Constant read_constant(const format::Constant& table) {
    Constant constant;
    constant.segment = table.segment();
    const DType dtype = dtype_of(table.dtype());
    std::vector<std::int64_t> shape = numbers(table.shape());
    if (is_packed(dtype) || device_element_bytes(dtype) == 0) fail_damaged("a constant of {}", to_string(dtype));
    const std::uint64_t size = device_bytes(dtype, shape), offset = table.offset();
    if (offset % program_file_alignment != 0 || size > constants_.size() || offset > constants_.size() - size) {
      fail_damaged("bytes {} to {} of {} are a constant", offset, offset + size, constants_.size());
    }
    constant.packing = dense_packing(dtype, shape);
    constant.source = Tensor::view(dtype, std::move(shape), constants_.subspan(offset, size), owner_);
    return constant;
  }

  Dispatch read_dispatch(const format::Dispatch& table) {
    Dispatch dispatch;
    dispatch.pipeline = table.pipeline();
    for (const format::Binding* binding : structs(table.bindings())) {
      const format::Stripes& touched = binding->touched();
      dispatch.bindings.push_back({binding->segment(),
                                   binding->offset(),
                                   binding->size(),
                                   enumerator(binding->access(), Access::read_write),
                                   {touched.begin(), touched.run(), touched.pitch()}});
    }
    dispatch.push_constants = numbers(table.push_constants());
    dispatch.groups = groups(*table.groups());
    dispatch.origin = table.origin();
    dispatch.work = table.work();
    return dispatch;
  }

  std::vector<Port> read_ports(const flatbuffers::Vector<flatbuffers::Offset<format::Port>>* tables) {
    std::vector<Port> ports;
    for (const format::Port* port : elements(tables)) {
      ports.push_back({text(port->name()), dtype_of(port->dtype()), numbers(port->shape()), port->segment()});
    }
    return ports;
  }

  PlanReport read_report(const format::Report& table, const Program& program) {
    PlanReport report;
    report.dispatches = static_cast<std::size_t>(std::ranges::count_if(
        program.steps, [](const Step& step) { return std::holds_alternative<Dispatch>(step); }));
    report.barriers = program.steps.size() - report.dispatches;
    report.levels = table.levels();
    report.pipelines = program.pipelines.size();
    for (const Segment& segment : program.segments) {
      if (segment.kind == SegmentKind::arena) report.arena_bytes = checked_add(report.arena_bytes, segment.size);
      if (segment.kind == SegmentKind::constant) report.weight_bytes = checked_add(report.weight_bytes, segment.size);
    }
    report.lower_bound_bytes = table.lower_bound_bytes();
    report.unshared_bytes = table.unshared_bytes();
    if (report.levels > most_levels) fail_damaged("{} levels", report.levels);
    std::uint64_t block_levels = 0;
    for (const format::Block* block : elements(table.blocks())) {
      if (block->first() > block->last() || block->last() >= report.levels || block->size() > report.arena_bytes ||
          block->offset() > report.arena_bytes - block->size()) {
        fail_damaged("a tensor of {} bytes at {} in levels {} to {}", block->size(), block->offset(), block->first(),
                     block->last());
      }
      block_levels += block->last() - block->first() + 1;
      report.blocks.push_back({text(block->name()), block->offset(), block->size(), block->first(), block->last()});
    }
    if (block_levels > most_block_levels) fail_damaged("too many tensors are alive for too long");
    return report;
  }

  const format::Description& description_;
  std::uint64_t bytes_left_;
  std::span<const std::byte> constants_;
  std::shared_ptr<const void> owner_;
};

ProgramFileHeader read_header(std::span<const std::byte> bytes) {
  if (!is_program_file(bytes)) fail_damaged("it does not begin like a program file");
  ProgramFileHeader header;
  if (bytes.size() < sizeof header) fail_damaged("its header is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  const ProgramFileHeader expected;
  if (header.format != expected.format || header.header_size != expected.header_size ||
      header.kernels_hash != kernels_hash()) {
    fail(ErrorCode::unsupported,
         "it was compiled by another version of Lapilli, whose kernels or format differ: compile the model again "
         "with this one");
  }
  if (header.description_size > bytes.size() - sizeof header || header.constants_offset > bytes.size() ||
      header.constants_offset < sizeof header + header.description_size ||
      header.constants_offset % program_file_alignment != 0 ||
      header.constants_size != bytes.size() - header.constants_offset) {
    fail_damaged("it has {} bytes, but its header tells of {} and {} behind {}", bytes.size(),
                 header.description_size, header.constants_size, header.constants_offset);
  }
  return header;
}

CompiledProgram read_checked(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  const ProgramFileHeader header = read_header(bytes);
  const std::span<const std::byte> description = bytes.subspan(sizeof header, header.description_size);
  if (XXH3_64bits(description.data(), description.size()) != header.description_hash) {
    fail_damaged("its description is not what was written");
  }
  const auto* data = reinterpret_cast<const std::uint8_t*>(description.data());
  const flatbuffers::Verifier::Options options;
  if (description.size() >= options.max_size) fail_damaged("its description has {} bytes", description.size());
  flatbuffers::Verifier verifier(data, description.size(), options);
  if (!format::VerifyDescriptionBuffer(verifier)) fail_damaged("its description is no such FlatBuffer");
  CompiledProgram compiled = DescriptionReader(*format::GetDescription(data), description.size(),
                                               bytes.subspan(header.constants_offset), owner)
                                 .read();
  verify(compiled.program, compiled.traits);
  verify_kernels(compiled.program, compiled.traits);
  return compiled;
}

}  // namespace

bool is_program_file(std::span<const std::byte> bytes) noexcept {
  const ProgramFileHeader header;
  const auto magic = std::as_bytes(std::span(header.magic));
  return bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), magic);
}

CompiledProgram read_program_file(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  try {
    return read_checked(bytes, owner);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) throw;
    // What would be a defect of the planner is one of the file here.
    fail(ErrorCode::invalid_model, "the program file is damaged: {}", error.what());
  }
}

}  // namespace lapilli
