#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapilli/dtype.h"

namespace lapilli::onnx {

/// A set of element types.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DType> types) {
    for (const DType type : types) bits_ |= bit(type);
  }

  [[nodiscard]] constexpr bool contains(DType type) const noexcept { return (bits_ & bit(type)) != 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  friend constexpr TypeSet operator|(TypeSet left, TypeSet right) noexcept {
    left.bits_ |= right.bits_;
    return left;
  }
  friend constexpr bool operator==(TypeSet, TypeSet) = default;

  [[nodiscard]] std::vector<DType> list() const;
  /// "float32, int64"
  [[nodiscard]] std::string to_string() const;

 private:
  static constexpr std::uint32_t bit(DType type) noexcept { return 1U << static_cast<std::uint32_t>(type); }
  std::uint32_t bits_ = 0;
};

/// What each input of an operator may be, by the operator's document over all versions that a record serves. The last
/// set serves all inputs that follow; without any set, everything is right.
class InputTypes {
 public:
  constexpr InputTypes() = default;
  constexpr InputTypes(std::initializer_list<TypeSet> sets) {
    for (const TypeSet set : sets) sets_[count_++] = set;
  }

  [[nodiscard]] constexpr std::span<const TypeSet> sets() const noexcept { return std::span(sets_).first(count_); }
  /// Empty where everything is right.
  [[nodiscard]] constexpr TypeSet of(std::size_t input) const noexcept {
    return count_ == 0 ? TypeSet() : sets_[input < count_ ? input : count_ - 1];
  }
  /// What either allows.
  friend constexpr InputTypes operator|(const InputTypes& left, const InputTypes& right) noexcept {
    InputTypes both;
    both.count_ = left.count_ > right.count_ ? left.count_ : right.count_;
    for (std::size_t i = 0; i < both.count_; ++i) both.sets_[i] = left.of(i) | right.of(i);
    return both;
  }

 private:
  static constexpr std::size_t most = 9;  // of QLinearConv
  std::array<TypeSet, most> sets_{};
  std::size_t count_ = 0;
};

struct Node;

/// Throws Error (invalid_model) that names input `input` of the node where it may not be of this type.
void require_type(const InputTypes& types, const Node& node, std::size_t input, DType type);

/// The sets of the operators' documents. What takes strings is moved by the host then.
namespace types {

using enum DType;

inline constexpr TypeSet single{float32};
inline constexpr TypeSet single_or_double{float32, float64};
inline constexpr TypeSet up_to_single{float16, bfloat16, float32};
inline constexpr TypeSet floats = up_to_single | TypeSet{float64};
inline constexpr TypeSet signed_integers{int8, int16, int32, int64};
inline constexpr TypeSet integers = signed_integers | TypeSet{uint8, uint16, uint32, uint64};
inline constexpr TypeSet numbers = floats | integers;
inline constexpr TypeSet wide_integers{int32, int64, uint32, uint64};
inline constexpr TypeSet wide_numbers = floats | wide_integers;
inline constexpr TypeSet condition{boolean};
inline constexpr TypeSet plain = numbers | condition;
inline constexpr TypeSet tensors = plain | TypeSet{string};
inline constexpr TypeSet sizes{int64};
inline constexpr TypeSet lengths{int32};
inline constexpr TypeSet indices{int32, int64};
inline constexpr TypeSet bytes{int8, uint8};
inline constexpr TypeSet float8{float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz};
inline constexpr TypeSet exponents{float8e8m0};
inline constexpr TypeSet float6{float6e2m3, float6e3m2};
inline constexpr TypeSet small_integers{int2, int4, uint2, uint4};
inline constexpr TypeSet small = float8 | exponents | TypeSet{float4e2m1} | small_integers;
inline constexpr TypeSet all = tensors | small;
inline constexpr TypeSet every = all | float6;
inline constexpr TypeSet quantized = float8 | float6 | small_integers | bytes | TypeSet{float4e2m1, int16, uint16};

}  // namespace types

struct NamedTypeSet {
  std::string_view name;
  TypeSet set;
};

/// The names under which a reader finds sets of more than four types.
std::span<const NamedTypeSet> named_type_sets();

}  // namespace lapilli::onnx
