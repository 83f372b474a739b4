#include "program/program_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <utility>

#include "base/mapped_file.h"
#include "base/packed.h"
#include "lapilli/error.h"
#include "program/pack.h"
#include "program/print.h"
#include "program/program_file_header.h"
#include "program/verify.h"
#include "support/sample_program.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

// Words, so that they lie as in a mapped file.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : words_(bytes.size() / 8 + 9), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(span().data(), bytes.data(), bytes.size());
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] std::span<std::byte> span() {
    auto* data = reinterpret_cast<std::byte*>(words_.data());
    const auto gap = -reinterpret_cast<std::uintptr_t>(data) % program_file_alignment;
    return {data + gap, size_};
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

std::vector<std::byte> packed(const Constant& constant) {
  std::vector<std::byte> bytes(packed_bytes(constant.packing));
  pack(constant.source, constant.packing, bytes);
  return bytes;
}

template <class List>
std::string list_text(const List& list) {
  std::string text = "[";
  for (const auto& each : list) text += std::format("{} ", each);
  return text + "]";
}

// All that a Program says. What constants hold is in it as it lies on the device.
std::string text_of(const Program& program) {
  std::string text;
  for (const Segment& segment : program.segments)
    text += std::format("segment {} {}\n", std::to_underlying(segment.kind), segment.size);
  for (const Constant& constant : program.constants) {
    text += std::format("constant {} {} ", constant.segment, list_text(constant.packing.shape));
    for (const std::byte byte : packed(constant)) text += std::format("{:02x}", std::to_integer<int>(byte));
    text += "\n";
  }
  text += "parameters " + list_text(program.parameters) + "\n";
  for (const PipelineSpec& spec : program.pipelines) {
    text += std::format("pipeline {} {} {}\n", spec.kernel, list_text(spec.specialization), spec.subgroup_size);
  }
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) {
      text += "barrier\n";
      continue;
    }
    text += std::format("dispatch {} {} {} {} {}\n", dispatch->pipeline, list_text(dispatch->push_constants),
                        list_text(dispatch->groups), dispatch->origin, dispatch->work);
    for (const Binding& binding : dispatch->bindings) {
      text += std::format("  {} {} {} {} {} {} {}\n", binding.segment, binding.offset, binding.size,
                          std::to_underlying(binding.access), binding.touched.begin, binding.touched.run,
                          binding.touched.pitch);
    }
  }
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const Port& port : *ports) {
      text +=
          std::format("port {} {} {} {}\n", port.name, to_string(port.dtype), list_text(port.shape), port.segment);
    }
  }
  return text + "origins " + list_text(program.origins);
}

class ProgramFile : public testing::Test {
 protected:
  ProgramFile() : file_(write(sample_)) {}
  void TearDown() override { fs::remove_all(folder_); }

  std::shared_ptr<const MappedFile> write(const CompiledProgram& compiled) {
    fs::create_directories(folder_);
    write_program_file(path_, compiled);
    return MappedFile::open(path_);
  }

  // An Error of one of the kinds that a damaged file may be answered with, or a Program.
  static bool is_refused(std::span<const std::byte> bytes) {
    try {
      Bytes copy(bytes);
      const CompiledProgram compiled = read_program_file(copy.span(), nullptr);
      (void)step_lines(compiled.program);
      return false;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::invalid_model || error.code() == ErrorCode::unsupported) << error.what();
      return true;
    }
  }

  // What is written for a Program that breaks a rule.
  void expect_refused(const std::string& what, const std::function<void(CompiledProgram&)>& spoil) {
    CompiledProgram spoiled = sample_program();
    spoil(spoiled);
    const auto file = write(spoiled);
    try {
      (void)read_program_file(file->bytes(), file);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_model) << error.what();
    }
  }

  const fs::path folder_ = fs::temp_directory_path() / ("lapilli_program_test." + std::to_string(getpid()));
  const fs::path path_ = folder_ / "sample.lapilli";
  const CompiledProgram sample_ = sample_program();
  std::shared_ptr<const MappedFile> file_;
};

TEST_F(ProgramFile, ComesBackAsItWas) {
  const CompiledProgram read = read_program_file(file_->bytes(), file_);
  EXPECT_EQ(text_of(read.program), text_of(sample_.program));
  EXPECT_EQ(read.sizes, sample_.sizes);
  EXPECT_EQ(read.precision, sample_.precision);
  EXPECT_EQ(read.model, sample_.model);
  EXPECT_EQ(read.traits.name, sample_.traits.name);
  EXPECT_EQ(read.traits.matrix_shapes, sample_.traits.matrix_shapes);
  EXPECT_EQ(read.traits.max_groups, sample_.traits.max_groups);
  EXPECT_EQ(read.traits.max_group_size, sample_.traits.max_group_size);
  EXPECT_EQ(read.traits.max_allocation, sample_.traits.max_allocation);
  EXPECT_TRUE(read.traits.storage_16bit && !read.traits.float16);
  EXPECT_EQ(read.report.levels, sample_.report.levels);
  EXPECT_EQ(read.report.arena_bytes, sample_.report.arena_bytes);
  EXPECT_EQ(read.report.weight_bytes, sample_.report.weight_bytes);
  EXPECT_EQ(read.report.dispatches, sample_.report.dispatches);
  ASSERT_EQ(read.report.blocks.size(), 2U);
  EXPECT_EQ(read.report.blocks[0].name, "t");
}

TEST_F(ProgramFile, HasConstantsAsTheyLieOnTheDevice) {
  const CompiledProgram read = read_program_file(file_->bytes(), file_);
  ASSERT_EQ(read.program.constants.size(), sample_.program.constants.size());
  for (const Constant& constant : read.program.constants) {
    const std::span<const std::byte> bytes = constant.source.bytes();
    EXPECT_EQ(constant.packing, dense_packing(constant.source.dtype(), constant.source.shape()));
    // Views of the file, not copies, and written once where they are the same.
    EXPECT_GE(bytes.data(), file_->bytes().data());
    EXPECT_LE(bytes.data() + bytes.size(), file_->bytes().data() + file_->bytes().size());
    EXPECT_EQ((bytes.data() - file_->bytes().data()) % 64, 0);
  }
  EXPECT_EQ(read.program.constants[0].source.bytes().data(), read.program.constants[1].source.bytes().data());
  // 1 2 3 / 4 5 6 transposed, with two columns of zeros, as float16: 0x3C00 is 1, 0x4400 is 4.
  const auto first = read.program.constants[0].source.bytes();
  const std::vector<int> begin{0x00, 0x3C, 0x00, 0x44, 0, 0, 0, 0, 0x00, 0x40};
  for (std::size_t i = 0; i < begin.size(); ++i) EXPECT_EQ(std::to_integer<int>(first[i]), begin[i]) << i;
  // Ten int4 of the bytes 0x01, 0x02, ...: the low half comes first.
  EXPECT_EQ(read.program.constants[4].source.dtype(), DType::int8);
  const auto small = read.program.constants[4].source.elements<std::int8_t>();
  EXPECT_EQ(std::vector<int>(small.begin(), small.end()), (std::vector<int>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}));
}

TEST_F(ProgramFile, IsRefusedWhenCutAnywhere) {
  const std::span<const std::byte> whole = file_->bytes();
  for (std::size_t size = 0; size < whole.size(); size += size < 256 ? 1 : 64) {
    EXPECT_TRUE(is_refused(whole.first(size))) << size;
  }
  std::vector<std::byte> longer(whole.begin(), whole.end());
  longer.emplace_back();
  EXPECT_TRUE(is_refused(longer));
}

TEST_F(ProgramFile, NeverTrustsAByte) {
  ProgramFileHeader header;
  std::memcpy(&header, file_->bytes().data(), sizeof header);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < header.constants_offset; ++at) {
    for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xFF}}) {
      Bytes damaged(file_->bytes());
      damaged.span()[at] ^= flip;
      const bool is_reserved = at >= offsetof(ProgramFileHeader, reserved) && at < sizeof header;
      const bool is_gap = at >= sizeof header + header.description_size;
      EXPECT_EQ(is_refused(damaged.span()), !is_reserved && !is_gap) << at;
      // With a header that fits, each field stands for itself.
      mend_program_file(damaged.span());
      refused += is_refused(damaged.span()) ? 1 : 0;
    }
  }
  // Names, numbers of kernels and parts of reports may be anything; the rest is most of it.
  EXPECT_GT(refused, header.description_size);
}

TEST_F(ProgramFile, OfOtherKernelsOrFormatIsToBeCompiledAgain) {
  const auto expect_unsupported = [&](const std::function<void(ProgramFileHeader&)>& change) {
    Bytes bytes(file_->bytes());
    ProgramFileHeader header;
    std::memcpy(&header, bytes.span().data(), sizeof header);
    change(header);
    std::memcpy(bytes.span().data(), &header, sizeof header);
    try {
      (void)read_program_file(bytes.span(), nullptr);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("compile the model again"), std::string::npos) << error.what();
    }
  };
  expect_unsupported([](ProgramFileHeader& header) { ++header.format; });
  expect_unsupported([](ProgramFileHeader& header) { ++header.kernels_hash; });
}

Dispatch& dispatch_of(CompiledProgram& compiled, std::size_t step) {
  return std::get<Dispatch>(compiled.program.steps.at(step));
}

TEST_F(ProgramFile, WhoseProgramBreaksARuleIsRefused) {
  expect_refused("kernel", [](auto& it) { it.program.pipelines[0].kernel = "no such kernel"; });
  expect_refused("too many constants", [](auto& it) { it.program.pipelines[0].specialization.resize(1000); });
  expect_refused("no workgroup", [](auto& it) { it.program.pipelines[0].specialization[1] = 0; });
  expect_refused("huge workgroup", [](auto& it) { it.program.pipelines[0].specialization[1] = 1U << 31U; });
  expect_refused("subgroups", [](auto& it) { it.program.pipelines[0].subgroup_size = 32; });
  expect_refused("pipeline", [](auto& it) { dispatch_of(it, 0).pipeline = 2; });
  expect_refused("origin", [](auto& it) { dispatch_of(it, 0).origin = 2; });
  expect_refused("push constants", [](auto& it) { dispatch_of(it, 0).push_constants.pop_back(); });
  expect_refused("bindings", [](auto& it) { dispatch_of(it, 0).bindings.pop_back(); });
  expect_refused("uniform", [](auto& it) { dispatch_of(it, 0).bindings[0] = {0, 0, 64, Access::read}; });
  expect_refused("storage", [](auto& it) { dispatch_of(it, 0).bindings[2] = {3, 0, 64, Access::read}; });
  expect_refused("segment", [](auto& it) { dispatch_of(it, 0).bindings[1].segment = 1000; });
  expect_refused("end", [](auto& it) { dispatch_of(it, 0).bindings[1].size = 1024; });
  expect_refused("pitch", [](auto& it) { dispatch_of(it, 0).bindings[1].touched.pitch = 0; });
  expect_refused("part of a stripe", [](auto& it) { dispatch_of(it, 0).bindings[1].touched.pitch = 48; });
  expect_refused("alignment", [](auto& it) { dispatch_of(it, 0).bindings[1].offset = 4; });
  expect_refused("groups", [](auto& it) { dispatch_of(it, 0).groups[1] = 0; });
  expect_refused("most groups", [](auto& it) { dispatch_of(it, 0).groups[1] = 65536; });
  expect_refused("hazard", [](auto& it) { it.program.steps.erase(it.program.steps.begin() + 1); });
  expect_refused("written input", [](auto& it) { dispatch_of(it, 0).bindings[2].access = Access::write; });
  expect_refused("input port", [](auto& it) { it.program.inputs[0].segment = 2; });
  expect_refused("output port", [](auto& it) { it.program.outputs[0].segment = 3; });
  expect_refused("no port", [](auto& it) { it.program.outputs[0].segment = 99; });
  expect_refused("large port", [](auto& it) { it.program.outputs[0].shape = {17}; });
  expect_refused("negative port", [](auto& it) { it.program.outputs[0].shape = {-1, -1}; });
  expect_refused("endless port", [](auto& it) { it.program.outputs[0].shape = {1LL << 40, 1LL << 40}; });
  expect_refused("text port", [](auto& it) { it.program.outputs[0].dtype = DType::string; });
  expect_refused("allocation", [](auto& it) { it.program.segments[2].size = std::uint64_t{1} << 40U; });
  expect_refused("small constant", [](auto& it) { it.program.segments[4].size = 4; });
  expect_refused("shared segment", [](auto& it) { it.program.constants[0].segment = 5; });
  expect_refused("no constant", [](auto& it) { it.program.constants.pop_back(); });
  expect_refused("parameters", [](auto& it) { it.program.segments[3].size = 256; });
  expect_refused("two parameters", [](auto& it) { it.program.segments.push_back({SegmentKind::parameters, 512}); });
  expect_refused("alignment of 0", [](auto& it) { it.traits.storage_alignment = 0; });
  expect_refused("alignment of 3", [](auto& it) { it.traits.uniform_alignment = 3; });
  expect_refused("levels", [](auto& it) { it.report.levels = std::size_t{1} << 40U; });
  expect_refused("block", [](auto& it) { it.report.blocks[0].last = 2; });
  expect_refused("block's end", [](auto& it) { it.report.blocks[0].offset = 1000; });
}

// Each dispatch touches what all others do, so that a judge of pairs would have half of the square of their number.
TEST_F(ProgramFile, TakesABoundedTime) {
  CompiledProgram long_program = sample_program();
  const Step first = long_program.program.steps[0];
  Dispatch reading = std::get<Dispatch>(first), writing = reading;
  for (std::size_t i = 1; i < reading.bindings.size(); ++i) {
    reading.bindings[i] = {2, 0, 128, Access::read, {0, 4, 16}};
    writing.bindings[i] = {2, 0, 132, Access::write, {8, 4, 12}};
  }
  long_program.program.segments[2].size = 1 << 28;
  long_program.program.steps.clear();
  for (int i = 0; i < 20000; ++i) long_program.program.steps.emplace_back(i % 2 == 0 ? reading : writing);
  expect_refused("many steps", [&](CompiledProgram& compiled) { compiled = long_program; });
  const auto small = [&](Dispatch& dispatch, std::uint64_t pitch, std::uint64_t begin) {
    for (std::size_t i = 1; i < dispatch.bindings.size(); ++i) {
      dispatch.bindings[i].size = (std::uint64_t{1} << 27U) / pitch * pitch;
      dispatch.bindings[i].touched = {begin, 4, pitch};
    }
  };
  small(reading, 12, 0);
  small(writing, 24, 8);
  long_program.program.steps = {reading, writing};
  // Runs at 0, 12, 24, ... and at 8, 32, 56, ... never meet, which takes 2^27 / 24 steps for each pair to see.
  expect_refused("many runs", [&](CompiledProgram& compiled) { compiled = long_program; });
}

TEST_F(ProgramFile, FitsDevicesThatHaveWhatItCountsOn) {
  const CompiledProgram read = read_program_file(file_->bytes(), file_);
  DeviceTraits device = sample_.traits;
  device.name = "another device";
  device.software = true;
  device.max_shared_memory = 1024;  // no kernel of it shares memory
  EXPECT_NO_THROW(require_fit(read, device));
  const auto expect_lack = [&](const std::string& text, const std::function<void(DeviceTraits&)>& take) {
    DeviceTraits lesser = device;
    take(lesser);
    try {
      require_fit(read, lesser);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      for (const std::string& part : {text, std::string("'a device'"), std::string("'another device'"),
                                      std::string("compile the model again")}) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    }
  };
  expect_lack("no 8-bit storage", [](DeviceTraits& traits) { traits.storage_8bit = false; });
  expect_lack("no 16-bit storage", [](DeviceTraits& traits) { traits.storage_16bit = false; });
  expect_lack("offset 256 is no multiple of 1024", [](DeviceTraits& traits) { traits.storage_alignment = 1024; });
  expect_lack("workgroups", [](DeviceTraits& traits) { traits.max_groups = {2, 2, 2}; });
  expect_lack("workgroups of 16", [](DeviceTraits& traits) { traits.max_group_invocations = 8; });
  expect_lack("takes 1.0 KiB, but the device allocates 1000 B",
              [](DeviceTraits& traits) { traits.max_allocation = 1000; });
  expect_lack("buffers", [](DeviceTraits& traits) { traits.max_storage_buffers = 2; });
}

TEST_F(ProgramFile, IsWrittenAsAWholeOrNotAtAll) {
  const auto before = fs::file_size(path_);
  EXPECT_THROW(write_program_file(path_ / "below a file", sample_), Error);
  CompiledProgram unpackable = sample_program();
  unpackable.program.constants[0].packing.source_offset = 1000;
  EXPECT_THROW(write_program_file(path_, unpackable), Error);
  EXPECT_EQ(fs::file_size(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace lapilli
