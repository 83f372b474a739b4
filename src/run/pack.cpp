#include "run/pack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/checked.h"
#include "base/half.h"
#include "base/packed.h"
#include "base/parallel.h"

namespace lapilli {
namespace {

constexpr std::int64_t elements_per_task = std::int64_t{1} << 17U;

/// The dimensions of a packing without those of one element, and with those merged that are one in memory.
struct Region {
  std::vector<std::int64_t> shape, extent, stride;
  std::int64_t offset = 0;
};

/// Part of one destination row: `valid` elements from the source, zeros from there to `count`.
struct Row {
  const std::byte* source;  ///< the first element
  std::int64_t stride;      ///< in elements
  std::int64_t valid, count;
  std::byte* destination;
};

using RowFunction = void (*)(const Row&);

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

Region simplify(const Packing& packing) {
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

template <class T>
void copy_row(const Row& row) {
  auto* to = reinterpret_cast<T*>(row.destination);
  const auto* from = reinterpret_cast<const T*>(row.source);
  if (row.stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(row.valid) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < row.valid; ++i) to[i] = from[i * row.stride];
  }
  std::memset(to + row.valid, 0, static_cast<std::size_t>(row.count - row.valid) * sizeof(T));
}

template <class From, class To>
To convert(From value) {
  if constexpr (std::integral<From>) {
    constexpr From lowest = std::numeric_limits<To>::min();
    constexpr From highest = std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp(value, lowest, highest));
  } else if constexpr (std::floating_point<To>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return To(static_cast<float>(value));
  }
}

template <class From, class To>
void convert_row(const Row& row) {
  auto* to = reinterpret_cast<To*>(row.destination);
  const auto* from = reinterpret_cast<const From*>(row.source);
  for (std::int64_t i = 0; i < row.valid; ++i) to[i] = convert<From, To>(from[i * row.stride]);
  std::memset(row.destination + static_cast<std::size_t>(row.valid) * sizeof(To), 0,
              static_cast<std::size_t>(row.count - row.valid) * sizeof(To));
}

RowFunction copy_of_width(std::size_t bits) {
  switch (bits) {
    case 2:
    case 4:
    case 6:
    case 8: return &copy_row<std::uint8_t>;
    case 16: return &copy_row<std::uint16_t>;
    case 32: return &copy_row<std::uint32_t>;
    case 64: return &copy_row<std::uint64_t>;
    default: return nullptr;
  }
}

template <class From>
RowFunction float_conversion(DType to) {
  switch (to) {
    case DType::float32: return &convert_row<From, float>;
    case DType::float16: return &convert_row<From, Half>;
    case DType::bfloat16: return &convert_row<From, BFloat16>;
    case DType::float64: return &convert_row<From, double>;
    default: return nullptr;
  }
}

RowFunction row_function(DType from, DType to) {
  RowFunction function = nullptr;
  if (from == to) return copy_of_width(bit_width(from));
  switch (from) {
    case DType::float32: function = float_conversion<float>(to); break;
    case DType::float16: function = float_conversion<Half>(to); break;
    case DType::bfloat16: function = float_conversion<BFloat16>(to); break;
    case DType::float64: function = float_conversion<double>(to); break;
    case DType::int64:
      if (to == DType::int32) function = &convert_row<std::int64_t, std::int32_t>;
      break;
    case DType::uint64:
      if (to == DType::uint32) function = &convert_row<std::uint64_t, std::uint32_t>;
      break;
    default: break;
  }
  return function;
}

/// Packs elements begin ... end - 1 of one row of the region.
class Packer {
 public:
  Packer(const Tensor& source, const Region& region, RowFunction function, std::size_t element_bytes,
         std::byte* destination)
      : source_(source.bytes().data()),
        source_element_bytes_(static_cast<std::int64_t>(bit_width(source.dtype()) / 8)),
        region_(region),
        function_(function),
        element_bytes_(static_cast<std::int64_t>(element_bytes)),
        destination_(destination) {}

  void pack_row(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    std::int64_t index = region_.offset;
    bool inside = true;
    std::int64_t rest = row;
    for (std::size_t d = region_.shape.size() - 1; d-- > 0;) {
      const std::int64_t position = rest % region_.shape[d];
      rest /= region_.shape[d];
      inside = inside && position < region_.extent[d];
      index += position * region_.stride[d];
    }
    const std::int64_t valid = inside ? std::clamp<std::int64_t>(region_.extent.back() - begin, 0, end - begin) : 0;
    const std::int64_t first = valid == 0 ? 0 : index + begin * region_.stride.back();
    function_({source_ + first * source_element_bytes_, region_.stride.back(), valid, end - begin,
               destination_ + (row * region_.shape.back() + begin) * element_bytes_});
  }

 private:
  const std::byte* source_;
  std::int64_t source_element_bytes_;
  const Region& region_;
  RowFunction function_;
  std::int64_t element_bytes_;
  std::byte* destination_;
};

}  // namespace

std::uint64_t packed_bytes(const Packing& packing) {
  return checked_multiply(static_cast<std::uint64_t>(element_count(packing.shape)),
                          std::uint64_t{device_element_bytes(packing.dtype)});
}

void pack(const Tensor& source, const Packing& packing, std::span<std::byte> destination) {
  if (destination.size() != packed_bytes(packing)) fail(ErrorCode::internal, "a packing is given another size");
  if (destination.empty()) return;
  check_bounds(source, packing);
  const Tensor unpacked = unpacked_tensor(source);
  const Region region = simplify(packing);
  const RowFunction function = row_function(source.dtype(), packing.dtype);
  if (function == nullptr) {
    fail(ErrorCode::unsupported, "a constant of {} cannot be packed as {}", to_string(source.dtype()),
         to_string(packing.dtype));
  }
  const Packer packer(unpacked, region, function, device_element_bytes(packing.dtype), destination.data());
  const std::int64_t row_length = region.shape.back();
  const std::int64_t rows = element_count(packing.shape) / row_length;
  const std::int64_t parts = divide_up(row_length, elements_per_task);
  const std::int64_t rows_per_task = std::max<std::int64_t>(1, elements_per_task / row_length);
  const std::int64_t tasks = checked_multiply(divide_up(rows, rows_per_task), parts);
  parallel_for(static_cast<std::size_t>(tasks), [&](std::size_t task) {
    const std::int64_t begin = static_cast<std::int64_t>(task) % parts * elements_per_task;
    const std::int64_t first = static_cast<std::int64_t>(task) / parts * rows_per_task;
    for (std::int64_t row = first; row < std::min(rows, first + rows_per_task); ++row) {
      packer.pack_row(row, begin, std::min(row_length, begin + elements_per_task));
    }
  });
}

}  // namespace lapilli
