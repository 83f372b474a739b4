// Any bytes as a program file: an Error that a damaged file may have, or a Program that its judges accept, in bounded
// time and memory.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "lapilli/error.h"
#include "program/pack.h"
#include "program/print.h"
#include "program/program_file_header.h"
#include "support/sample_program.h"

namespace lapilli {
namespace {

// A whole file for the fuzzer to start from, of the kernels and the format as they are.
const std::vector<std::byte>& sample_file() {
  static const std::vector<std::byte> bytes = [] {
    const auto path = std::filesystem::temp_directory_path() / std::format("lapilli_fuzz.{}", getpid());
    write_program_file(path, sample_program());
    std::ifstream file(path, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(path);
    const auto view = std::as_bytes(std::span(content));
    return std::vector<std::byte>(view.begin(), view.end());
  }();
  return bytes;
}

DeviceTraits small_device() {
  DeviceTraits traits;
  traits.storage_8bit = traits.storage_16bit = true;
  traits.max_storage_buffers = 32;
  traits.longest_submit = 1000;
  return traits;
}

// As a mapped file lies, and not a byte more of it.
class AlignedCopy {
 public:
  AlignedCopy(const std::uint8_t* data, std::size_t size)
      : bytes_(static_cast<std::byte*>(::operator new[](size, alignment))), size_(size) {
    if (size != 0) std::memcpy(bytes_.get(), data, size);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  static constexpr std::align_val_t alignment{program_file_alignment};
  struct Delete {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, alignment); }
  };

  std::unique_ptr<std::byte[], Delete> bytes_;
  std::size_t size_;
};

// All that is done with a file before the device has to do with it.
void use(const CompiledProgram& compiled) {
  (void)step_lines(compiled.program);
  for (const Constant& constant : compiled.program.constants) {
    std::vector<std::byte> bytes(packed_bytes(constant.packing));
    pack(constant.source, constant.packing, bytes);
  }
  try {
    require_fit(compiled, small_device());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) std::abort();
  }
}

void read(std::span<const std::byte> bytes) {
  try {
    use(read_program_file(bytes, nullptr));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_model && error.code() != ErrorCode::unsupported) std::abort();
  }
}

// Fields of a FlatBuffer are aligned numbers: counts, offsets, sizes, and what a Program says.
void change_number(std::span<std::uint8_t> bytes, std::minstd_rand& random) {
  constexpr std::array<std::uint64_t, 12> telling{
      0, 1, 2, 3, 4, 255, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 20, ~std::uint64_t{0}};
  const std::size_t width = std::size_t{1} << random() % 4;
  if (bytes.size() < sizeof(ProgramFileHeader) + width) return;
  const std::size_t at = random() % (bytes.size() / width) * width;
  std::uint64_t value = telling[random() % telling.size()];
  if (random() % 2 == 0) {
    std::memcpy(&value, bytes.data() + at, width);
    value += random() % 2 == 0 ? 4 : -std::uint64_t{4};
  }
  std::memcpy(bytes.data() + at, &value, width);
}

}  // namespace
}  // namespace lapilli

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  const std::vector<std::byte>& sample = lapilli::sample_file();
  if ((size < sizeof(lapilli::ProgramFileHeader) || seed % 64 == 0) && sample.size() <= most) {
    std::memcpy(data, sample.data(), sample.size());
    size = sample.size();
  }
  std::minstd_rand random(seed);
  if (random() % 4 == 0) {
    size = LLVMFuzzerMutate(data, size, most);
  } else {
    for (unsigned i = 0; i <= random() % 3; ++i) lapilli::change_number({data, size}, random);
  }
  // A header that tells of what there is, since few would get past it by chance.
  if (random() % 16 != 0) lapilli::mend_program_file(std::as_writable_bytes(std::span(data, size)));
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const lapilli::AlignedCopy copy(data, size);
  lapilli::read(copy.bytes());
  return 0;
}
