#include "lapilli/dtype.h"

#include <array>

namespace lapilli {
namespace {

enum class Kind : std::uint8_t { other, floating_point, signed_integer, unsigned_integer };

struct Description {
  std::string_view name;
  std::uint8_t bits;
  Kind kind;
};

// In the order of the enumeration.
constexpr std::array descriptions{
    Description{"undefined", 0, Kind::other},
    Description{"float32", 32, Kind::floating_point},
    Description{"float16", 16, Kind::floating_point},
    Description{"bfloat16", 16, Kind::floating_point},
    Description{"float64", 64, Kind::floating_point},
    Description{"int8", 8, Kind::signed_integer},
    Description{"int16", 16, Kind::signed_integer},
    Description{"int32", 32, Kind::signed_integer},
    Description{"int64", 64, Kind::signed_integer},
    Description{"uint8", 8, Kind::unsigned_integer},
    Description{"uint16", 16, Kind::unsigned_integer},
    Description{"uint32", 32, Kind::unsigned_integer},
    Description{"uint64", 64, Kind::unsigned_integer},
    Description{"bool", 8, Kind::other},
    Description{"string", 0, Kind::other},
    Description{"int4", 4, Kind::signed_integer},
    Description{"uint4", 4, Kind::unsigned_integer},
    Description{"float8e4m3fn", 8, Kind::floating_point},
    Description{"float8e4m3fnuz", 8, Kind::floating_point},
    Description{"float8e5m2", 8, Kind::floating_point},
    Description{"float8e5m2fnuz", 8, Kind::floating_point},
    Description{"float4e2m1", 4, Kind::floating_point},
    Description{"float8e8m0", 8, Kind::floating_point},
    Description{"int2", 2, Kind::signed_integer},
    Description{"uint2", 2, Kind::unsigned_integer},
    Description{"float6e2m3", 6, Kind::floating_point},
    Description{"float6e3m2", 6, Kind::floating_point},
};
static_assert(descriptions.size() == static_cast<std::size_t>(DType::float6e3m2) + 1);

const Description& describe(DType dtype) noexcept { return descriptions[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view to_string(DType dtype) noexcept { return describe(dtype).name; }
std::size_t bit_width(DType dtype) noexcept { return describe(dtype).bits; }
bool is_floating_point(DType dtype) noexcept { return describe(dtype).kind == Kind::floating_point; }
bool is_signed_integer(DType dtype) noexcept { return describe(dtype).kind == Kind::signed_integer; }
bool is_unsigned_integer(DType dtype) noexcept { return describe(dtype).kind == Kind::unsigned_integer; }

std::optional<DType> dtype_from_string(std::string_view name) noexcept {
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (descriptions[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace lapilli
