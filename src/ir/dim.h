#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

/// The size of each symbol, such as {"batch", 8}.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

/// A dimension: an integer expression over symbols that stand for sizes of at least 0, such as `2*batch` or
/// `floor((height+1)/2)`. A cheap immutable value; thread safe.
///
/// Expressions are kept in one canonical form (a sum of products), so that two that are equal by the rules of sums
/// and products compare equal. Arithmetic throws Error (limit_exceeded) where a coefficient leaves 64 bits.
class Dim {
 public:
  Dim() = default;
  // Numbers are dimensions everywhere, so the conversion is implicit on purpose.
  template <std::integral Number>
  Dim(Number value) : constant_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  static Dim symbol(std::string_view name);

  [[nodiscard]] bool is_constant() const noexcept { return terms_ == nullptr; }
  /// The number, when it is one.
  [[nodiscard]] std::optional<std::int64_t> constant() const noexcept;
  /// The number that it has with these sizes. Throws Error (invalid_argument) that names a symbol without a size, and
  /// Error (limit_exceeded) where arithmetic overflows.
  [[nodiscard]] std::int64_t evaluate(const SymbolValues& values) const;
  /// Adds the names of its symbols to `names`.
  void collect_symbols(std::vector<std::string>& names) const;
  [[nodiscard]] std::string to_string() const;

  friend Dim operator+(const Dim& left, const Dim& right);
  friend Dim operator-(const Dim& left, const Dim& right);
  friend Dim operator*(const Dim& left, const Dim& right);
  friend bool operator==(const Dim& left, const Dim& right) { return compare(left, right) == 0; }
  friend std::strong_ordering operator<=>(const Dim& left, const Dim& right) { return compare(left, right) <=> 0; }

  /// Quotients rounded down and up. A constant divisor must be positive.
  static Dim floor_divide(const Dim& dividend, const Dim& divisor);
  static Dim ceil_divide(const Dim& dividend, const Dim& divisor);
  static Dim minimum(const Dim& left, const Dim& right);
  static Dim maximum(const Dim& left, const Dim& right);

 private:
  struct Atom;
  struct Term;
  struct Algebra;
  using Terms = std::vector<Term>;

  static int compare(const Dim& left, const Dim& right);

  std::int64_t constant_ = 0;           // the whole value when there are no terms, else the constant summand
  std::shared_ptr<const Terms> terms_;  // sorted, coefficients not 0; null for a number
};

using Shape = std::vector<Dim>;

/// Whether a symbol stands for an element of an input, "NAME[INDEX]", rather than for a size.
inline bool is_element_symbol(std::string_view name) { return name.ends_with(']'); }

/// "[batch, 3, 224, 224]"
std::string shape_text(std::span<const Dim> shape);

/// The product of all dimensions.
Dim element_count(std::span<const Dim> shape);

Shape to_shape(std::span<const std::int64_t> sizes);

/// The numbers of a shape that has only numbers; nothing otherwise.
std::optional<std::vector<std::int64_t>> to_numbers(std::span<const Dim> shape);

std::vector<std::int64_t> evaluate(std::span<const Dim> shape, const SymbolValues& values);

}  // namespace lapilli
