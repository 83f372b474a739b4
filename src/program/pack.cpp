#include "program/pack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "base/half.h"
#include "base/half_bits.h"
#include "base/packed.h"
#include "base/parallel.h"

namespace lapilli {

/// Elements of rows of the destination that follow one another: `valid` of each from the source, zeros from there to
/// `count`. Strides and pitch count elements.
struct PackedBlock {
  const std::byte* source;  ///< the first element
  std::int64_t row_stride, stride;
  std::int64_t rows, valid, count;
  std::byte* destination;
  std::int64_t pitch;
};

namespace {

constexpr std::int64_t elements_of_part = std::int64_t{1} << 17U;
constexpr std::int64_t square = 64;  // elements of a side

void check_bounds(const Tensor& source, const Packing& packing) {
  const std::size_t rank = packing.shape.size();
  if (packing.source_extent.size() != rank || packing.source_stride.size() != rank) {
    fail(ErrorCode::internal, "a packing has {} dimensions, {} extents and {} strides", rank,
         packing.source_extent.size(), packing.source_stride.size());
  }
  std::int64_t lowest = packing.source_offset;
  std::int64_t highest = packing.source_offset;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = std::min(packing.source_extent[d], packing.shape[d]);
    if (extent <= 0) return;  // nothing is read
    std::int64_t& end = packing.source_stride[d] < 0 ? lowest : highest;
    end = checked_add(end, checked_multiply(extent - 1, packing.source_stride[d]));
  }
  if (lowest < 0 || highest >= source.element_count()) {
    fail(ErrorCode::internal, "a packing reads elements {} to {} of a constant of {}", lowest, highest,
         source.element_count());
  }
}

template <class From, class To>
To convert(From value) {
  if constexpr (std::same_as<From, To>) {
    return value;
  } else if constexpr (std::integral<From>) {
    constexpr From lowest = std::numeric_limits<To>::min();
    constexpr From highest = std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp(value, lowest, highest));
  } else if constexpr (std::same_as<From, float> && std::same_as<To, Half>) {
    // A number stays one: masks are the lowest float32, and a row of infinities has no softmax.
    constexpr float most = 65504;
    Half half;
    half.bits = half_bits(std::isinf(value) ? value : std::clamp(value, -most, most));
    return half;
  } else if constexpr (std::floating_point<To>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return To(static_cast<float>(value));
  }
}

// Constants lie anywhere in a model's file.
template <class From>
From element_at(const std::byte* source, std::int64_t index) {
  From element{};
  std::memcpy(&element, source + index * static_cast<std::int64_t>(sizeof(From)), sizeof(From));
  return element;
}

// Columns of the source become rows: through a square that the cache holds, so that each line of the source is read
// once and runs are written.
template <class From, class To>
void write_transposed(const PackedBlock& block) {
  std::array<std::array<To, square>, square> held;
  for (std::int64_t row = 0; row < block.rows; row += square) {
    const std::int64_t rows = std::min(square, block.rows - row);
    for (std::int64_t column = 0; column < block.valid; column += square) {
      const std::int64_t columns = std::min(square, block.valid - column);
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t line = row * block.row_stride + (column + c) * block.stride;
        for (std::int64_t r = 0; r < rows; ++r) {
          held[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] =
              convert<From, To>(element_at<From>(block.source, line + r * block.row_stride));
        }
      }
      auto* to = reinterpret_cast<To*>(block.destination) + row * block.pitch + column;
      for (std::int64_t r = 0; r < rows; ++r) {
        std::memcpy(to + r * block.pitch, held[static_cast<std::size_t>(r)].data(),
                    static_cast<std::size_t>(columns) * sizeof(To));
      }
    }
  }
}

template <class From, class To>
void write_rows(const PackedBlock& block) {
  auto* to = reinterpret_cast<To*>(block.destination);
  for (std::int64_t row = 0; row < block.rows; ++row, to += block.pitch) {
    const std::int64_t first = row * block.row_stride;
    if (block.stride != 1) {
      for (std::int64_t i = 0; i < block.valid; ++i)
        to[i] = convert<From, To>(element_at<From>(block.source, first + i * block.stride));
    } else if constexpr (std::same_as<From, To>) {
      std::memcpy(to, block.source + first * static_cast<std::int64_t>(sizeof(From)),
                  static_cast<std::size_t>(block.valid) * sizeof(To));
    } else {
      for (std::int64_t i = 0; i < block.valid; ++i)
        to[i] = convert<From, To>(element_at<From>(block.source, first + i));
    }
  }
}

template <class From, class To>
void write_block(const PackedBlock& block) {
  if (block.stride != 1 && block.rows > 1) {
    write_transposed<From, To>(block);
  } else {
    write_rows<From, To>(block);
  }
  if (block.valid == block.count) return;
  auto* to = reinterpret_cast<To*>(block.destination) + block.valid;
  for (std::int64_t row = 0; row < block.rows; ++row, to += block.pitch)
    std::fill_n(to, block.count - block.valid, To());
}

using BlockFunction = void (*)(const PackedBlock&);

BlockFunction copy_of_width(std::size_t bits) {
  switch (bits) {
    case 2:
    case 4:
    case 6:
    case 8: return &write_block<std::uint8_t, std::uint8_t>;
    case 16: return &write_block<std::uint16_t, std::uint16_t>;
    case 32: return &write_block<std::uint32_t, std::uint32_t>;
    case 64: return &write_block<std::uint64_t, std::uint64_t>;
    default: return nullptr;
  }
}

template <class From>
BlockFunction float_conversion(DType to) {
  switch (to) {
    case DType::float32: return &write_block<From, float>;
    case DType::float16: return &write_block<From, Half>;
    case DType::bfloat16: return &write_block<From, BFloat16>;
    case DType::float64: return &write_block<From, double>;
    default: return nullptr;
  }
}

BlockFunction block_function(DType from, DType to) {
  BlockFunction function = nullptr;
  if (from == to) return copy_of_width(bit_width(from));
  switch (from) {
    case DType::float32: function = float_conversion<float>(to); break;
    case DType::float16: function = float_conversion<Half>(to); break;
    case DType::bfloat16: function = float_conversion<BFloat16>(to); break;
    case DType::float64: function = float_conversion<double>(to); break;
    case DType::int64:
      if (to == DType::int32) function = &write_block<std::int64_t, std::int32_t>;
      break;
    case DType::uint64:
      if (to == DType::uint32) function = &write_block<std::uint64_t, std::uint32_t>;
      break;
    default: break;
  }
  return function;
}

}  // namespace

std::uint64_t packed_bytes(const Packing& packing) { return device_bytes(packing.dtype, packing.shape); }

Packing dense_packing(DType dtype, std::vector<std::int64_t> shape) {
  Packing packing{dtype, shape, shape, std::vector<std::int64_t>(shape.size(), 1), 0};
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    packing.source_stride[axis - 1] = checked_multiply(packing.source_stride[axis], shape[axis]);
  }
  return packing;
}

Packer::Region Packer::simplify(const Packing& packing) {
  Region region;
  region.offset = packing.source_offset;
  for (std::size_t d = 0; d < packing.shape.size(); ++d) {
    const std::int64_t shape = packing.shape[d];
    const std::int64_t extent = std::min(packing.source_extent[d], shape);
    const std::int64_t stride = packing.source_stride[d];
    if (shape == 1 && extent == 1) continue;
    const bool follows = !region.shape.empty() && extent == shape && region.stride.back() == stride * shape;
    if (follows) {
      region.shape.back() *= shape;
      region.extent.back() *= shape;
      region.stride.back() = stride;
    } else {
      region.shape.push_back(shape);
      region.extent.push_back(extent);
      region.stride.push_back(stride);
    }
  }
  if (region.shape.empty()) region = {{1}, {1}, {1}, region.offset};
  return region;
}

Packer::Packer(Tensor source, const Packing& packing)
    : source_(std::move(source)),
      function_(block_function(source_.dtype(), packing.dtype)),
      element_bytes_(static_cast<std::int64_t>(device_element_bytes(packing.dtype))) {
  if (function_ == nullptr) {
    fail(ErrorCode::unsupported, "a constant of {} cannot be packed as {}", to_string(source_.dtype()),
         to_string(packing.dtype));
  }
  const std::int64_t count = element_count(packing.shape);
  if (count == 0) return;
  check_bounds(source_, packing);
  region_ = simplify(packing);
  const std::int64_t length = region_.shape.back();
  rows_ = count / length;
  const bool transposed = region_.stride.back() != 1 && rows_ > 1;
  rows_of_part_ = transposed ? square : std::max<std::int64_t>(1, elements_of_part / length);
  // Types narrower than a byte are unpacked whole.
  const bool whole = bit_width(source_.dtype()) < 8;
  if (whole) rows_of_part_ = rows_;
  elements_of_row_part_ =
      whole ? length : std::min(length, elements_of_part / std::min(rows_of_part_, elements_of_part));
  parts_of_row_ = divide_up(length, elements_of_row_part_);
  parts_ = static_cast<std::size_t>(checked_multiply(divide_up(rows_, rows_of_part_), parts_of_row_));
}

void Packer::pack(std::size_t part, std::span<std::byte> destination) const {
  const Tensor source = unpacked_tensor(source_);
  const auto index = static_cast<std::int64_t>(part);
  Range range;
  range.begin = index % parts_of_row_ * elements_of_row_part_;
  range.end = std::min(region_.shape.back(), range.begin + elements_of_row_part_);
  // Rows are written together as far as they lie along one dimension, all inside the source or all outside.
  const std::size_t rank = region_.shape.size();
  const std::int64_t along = rank > 1 ? region_.shape[rank - 2] : 1, inside = rank > 1 ? region_.extent[rank - 2] : 1;
  const std::int64_t last = std::min(rows_, (index / parts_of_row_ + 1) * rows_of_part_);
  for (range.row = index / parts_of_row_ * rows_of_part_; range.row < last; range.row += range.rows) {
    const std::int64_t position = range.row % along;
    range.rows = std::min(last - range.row, (position < inside ? inside : along) - position);
    pack_range(source, range, destination);
  }
}

void Packer::pack_range(const Tensor& source, const Range& range, std::span<std::byte> destination) const {
  const std::size_t rank = region_.shape.size();
  std::int64_t index = region_.offset, rest = range.row;
  bool inside = true;
  for (std::size_t d = rank - 1; d-- > 0;) {
    const std::int64_t position = rest % region_.shape[d];
    rest /= region_.shape[d];
    inside = inside && position < region_.extent[d];
    index += position * region_.stride[d];
  }
  const std::int64_t count = range.end - range.begin;
  const std::int64_t valid = inside ? std::clamp<std::int64_t>(region_.extent.back() - range.begin, 0, count) : 0;
  const std::int64_t first = valid == 0 ? 0 : index + range.begin * region_.stride.back();
  const auto source_bytes = static_cast<std::int64_t>(bit_width(source.dtype()) / 8);
  const std::int64_t pitch = region_.shape.back();
  function_({source.bytes().data() + first * source_bytes, rank > 1 ? region_.stride[rank - 2] : 0,
             region_.stride.back(), range.rows, valid, count,
             destination.data() + (range.row * pitch + range.begin) * element_bytes_, pitch});
}

void pack(const Tensor& source, const Packing& packing, std::span<std::byte> destination) {
  if (destination.size() != packed_bytes(packing)) fail(ErrorCode::internal, "a packing is given another size");
  const Packer packer(source, packing);
  parallel_for(packer.parts(), [&](std::size_t part) { packer.pack(part, destination); });
}

}  // namespace lapilli
