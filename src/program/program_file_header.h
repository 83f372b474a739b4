#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace lapilli {

/// Where constants begin in a program file is a multiple of this.
constexpr std::uint64_t program_file_alignment = 64;

/// What a program file begins with, little endian. Behind it lies the description, a FlatBuffer of program.fbs, and
/// behind that the constants, which are no part of it since a FlatBuffer ends at 2 GiB.
struct ProgramFileHeader {
  std::array<char, 8> magic{'L', 'A', 'P', 'I', 'P', 'R', 'O', 'G'};
  std::uint32_t format = 1;
  std::uint32_t header_size = sizeof(ProgramFileHeader);
  std::uint64_t kernels_hash = 0;  ///< of the kernels that the Program starts
  std::uint64_t description_size = 0;
  std::uint64_t description_hash = 0;  ///< XXH3 with 64 bits
  std::uint64_t constants_offset = 0;  ///< from the first byte of the file
  std::uint64_t constants_size = 0;    ///< the last byte of the constants is that of the file
  std::uint64_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<ProgramFileHeader> &&
              std::has_unique_object_representations_v<ProgramFileHeader>);

}  // namespace lapilli
