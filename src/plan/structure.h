#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/assumptions.h"
#include "program/device_traits.h"
#include "program/program.h"

namespace lapilli {

enum class StorageId : std::uint32_t {};
constexpr std::size_t index_of(StorageId id) { return static_cast<std::size_t>(id); }

/// The bytes of a storage that a part of it owns: `run` of every `pitch`, from `begin` on. The storage is a whole
/// number of pitches.
struct StoragePart {
  StorageId whole{};
  Dim begin, run, pitch;
};

/// A piece of device memory before its size and place are numbers. A part has no memory of its own: kernels bind the
/// whole, and only order and hazards tell parts of one storage apart.
struct Storage {
  SegmentKind kind = SegmentKind::arena;
  Dim size;                                        ///< bytes
  std::optional<Constant> constant;                ///< of kind constant; its segment number is not set yet
  std::optional<StoragePart> part = std::nullopt;  ///< then kind and size are those of the whole
  std::string name = {};                           ///< of a value that lies there, for reports
  Dim shared = 0;  ///< bytes that its further values would take in buffers of their own, for reports
};

/// Where the elements of a value lie and as what.
struct Placement {
  StorageId storage{};
  DType dtype = DType::undefined;
  Dim offset;                ///< elements from the start of the storage
  std::vector<Dim> strides;  ///< elements, one an axis
};

/// A part of a storage that is bound in place of the whole, in bytes; it begins where a binding may.
struct StorageWindow {
  std::int64_t begin = 0, bytes = 0;
};

struct StorageAccess {
  StorageId storage{};
  Access access = Access::read;
  std::optional<StorageWindow> window = {};
};

/// One 32-bit word of what a kernel is told at run time.
struct ParameterWord {
  enum class Kind : std::uint8_t {
    literal,     ///< `bits` as they are
    value,       ///< a size
    multiplier,  ///< with `shift`, what divides by a size (see Divisor in src/kernels/include/parameters.glsl)
    shift,
  };
  Kind kind = Kind::literal;
  std::uint32_t bits = 0;
  Dim value;
};

/// What a compiled kernel may ask of a device; a level includes those before it (src/kernels/CMakeLists.txt).
enum class KernelLevel : std::uint8_t { narrow, base, int64, float64 };

/// The lowest level whose kernels can load and store this type.
KernelLevel level_of(DType dtype) noexcept;

/// Whether sums of weighted elements of this type are computed in double precision: float64, and integers of 16 bits
/// and more, for which float32 has too few digits, where the device is able to. Where it is not, they are good to 24
/// bits.
bool needs_double(DType dtype, const DeviceTraits& traits) noexcept;
/// The suffix of the kernel's name. Throws Error (unsupported) that names what the device lacks.
std::string_view level_name(KernelLevel level, const DeviceTraits& traits);

/// A dispatch whose sizes are still expressions. Binding 0 of its kernel takes the parameters where push constants
/// are too small; binding 1 + i takes bindings[i].
struct SymbolicDispatch {
  std::string kernel;  ///< family, without the capability level
  KernelLevel capabilities = KernelLevel::narrow;
  std::vector<std::uint32_t> specialization;  ///< constants 1 and up; constant 0 says where the parameters are
  std::uint32_t subgroup_size = 0;
  std::vector<StorageAccess> bindings;
  std::vector<ParameterWord> parameters;
  Dim work = 0;                      ///< operations, where they are more than elements that are bound
  bool tuned = false;                ///< cut for the sizes at hand: right for all others, but slow for distant ones
  Dim groups;                        ///< workgroups in all; the kernel finds its own number in three axes
  std::vector<std::uint32_t> after;  ///< dispatches that must be complete before
  std::uint32_t level = 0;           ///< 1 + the highest level in `after`
  std::uint32_t origin = 0;          ///< index into Structure::origins
};

struct SymbolicPort {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
  StorageId storage{};
};

/// All that does not depend on the numbers of one set of input sizes: made once, it serves every set of sizes for
/// which its guards hold.
struct Structure {
  std::vector<Guard> guards;
  std::vector<Storage> storages;
  std::vector<SymbolicDispatch> dispatches;
  std::vector<SymbolicPort> inputs;
  std::vector<SymbolicPort> outputs;
  std::vector<std::string> origins;
  std::vector<std::string> symbols;  ///< that any of its expressions contains: other sizes do not matter
  double tuned_for = 0;              ///< operations of the tuned dispatches, for the sizes that it was made for
};

/// The operations of the tuned dispatches.
double tuned_work(const Structure& structure, const SymbolValues& sizes);

/// Whether a structure is right for these sizes, and they are near enough to those that it was tuned for.
bool serves(const Structure& structure, const SymbolValues& sizes);

/// The sizes that matter to a structure.
SymbolValues relevant_sizes(const Structure& structure, const SymbolValues& sizes);

/// All symbols of a structure's expressions.
std::vector<std::string> collect_symbols(const Structure& structure);

}  // namespace lapilli
