#include "ir/dim.h"

#include <algorithm>
#include <format>
#include <iterator>

#include "base/checked.h"

namespace lapilli {
namespace {

std::int64_t floor_quotient(std::int64_t dividend, std::int64_t divisor) {
  if (divisor <= 0) fail(ErrorCode::invalid_argument, "a size is divided by {}", divisor);
  const std::int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

// A symbol, or a function of two dimensions that no sum of products can express.
struct Dim::Atom {
  enum class Kind : std::uint8_t { symbol, floor_divide, minimum, maximum };
  Kind kind = Kind::symbol;
  std::string name;
  Dim left, right;
};

struct Dim::Term {
  std::int64_t coefficient = 1;
  std::vector<std::shared_ptr<const Atom>> factors;  // sorted; never empty
};

// The arithmetic on canonical forms. A struct of static functions because Atom and Term are private to Dim.
struct Dim::Algebra {
  static int compare_atoms(const Atom& left, const Atom& right) {
    if (&left == &right) return 0;
    if (left.kind != right.kind) return left.kind < right.kind ? -1 : 1;
    if (const int order = left.name.compare(right.name); order != 0) return order;
    if (const int order = compare(left.left, right.left); order != 0) return order;
    return compare(left.right, right.right);
  }

  static bool atom_less(const std::shared_ptr<const Atom>& left, const std::shared_ptr<const Atom>& right) {
    return compare_atoms(*left, *right) < 0;
  }

  static int compare_factors(const Term& left, const Term& right) {
    if (left.factors.size() != right.factors.size()) return left.factors.size() < right.factors.size() ? -1 : 1;
    for (std::size_t i = 0; i < left.factors.size(); ++i) {
      if (const int order = compare_atoms(*left.factors[i], *right.factors[i]); order != 0) return order;
    }
    return 0;
  }

  static const Terms& terms(const Dim& dim) {
    static const Terms none;
    return dim.terms_ ? *dim.terms_ : none;
  }

  static Dim make(std::int64_t constant, Terms terms) {
    std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
    Dim result(constant);
    if (!terms.empty()) result.terms_ = std::make_shared<const Terms>(std::move(terms));
    return result;
  }

  static Dim of_atom(Atom atom) {
    Term term;
    term.factors.push_back(std::make_shared<const Atom>(std::move(atom)));
    return make(0, {std::move(term)});
  }

  static Dim sum(const Dim& left, const Dim& right, std::int64_t sign) {
    Terms result;
    const Terms &a = terms(left), &b = terms(right);
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      const int order = i == a.size() ? 1 : j == b.size() ? -1 : compare_factors(a[i], b[j]);
      if (order < 0) {
        result.push_back(a[i++]);
        continue;
      }
      Term term = b[j++];
      term.coefficient = checked_multiply(term.coefficient, sign);
      if (order == 0) term.coefficient = checked_add(a[i++].coefficient, term.coefficient);
      result.push_back(std::move(term));
    }
    return make(checked_add(left.constant_, checked_multiply(right.constant_, sign)), std::move(result));
  }

  static Dim scaled(const Dim& dim, std::int64_t factor) {
    Terms result = terms(dim);
    for (Term& term : result) term.coefficient = checked_multiply(term.coefficient, factor);
    return make(checked_multiply(dim.constant_, factor), std::move(result));
  }

  static Term product(const Term& left, const Term& right) {
    Term result;
    result.coefficient = checked_multiply(left.coefficient, right.coefficient);
    std::ranges::merge(left.factors, right.factors, std::back_inserter(result.factors), atom_less);
    return result;
  }

  // dividend = quotient * divisor + rest, for a divisor of one term or a number: what divides exactly is split off.
  static std::pair<Dim, Dim> split(const Dim& dividend, const Dim& divisor) {
    if (divisor.is_constant()) {
      Terms quotient, rest;
      for (const Term& term : terms(dividend)) {
        const bool exact = term.coefficient % divisor.constant_ == 0;
        (exact ? quotient : rest).push_back(term);
        if (exact) quotient.back().coefficient /= divisor.constant_;
      }
      const std::int64_t constant = floor_quotient(dividend.constant_, divisor.constant_);
      return {make(constant, std::move(quotient)),
              make(dividend.constant_ - constant * divisor.constant_, std::move(rest))};
    }
    if (terms(divisor).size() != 1 || divisor.constant_ != 0) {
      if (dividend == divisor) return {Dim(1), Dim(0)};
      return {Dim(0), dividend};
    }
    const Term& by = terms(divisor).front();
    Dim quotient(0);
    Terms rest;
    for (const Term& term : terms(dividend)) {
      Term left_over;
      std::ranges::set_difference(term.factors, by.factors, std::back_inserter(left_over.factors), atom_less);
      const bool exact = term.coefficient % by.coefficient == 0 &&
                         left_over.factors.size() + by.factors.size() == term.factors.size();
      if (!exact) {
        rest.push_back(term);
        continue;
      }
      left_over.coefficient = term.coefficient / by.coefficient;
      quotient = quotient + (left_over.factors.empty() ? Dim(left_over.coefficient) : make(0, {left_over}));
    }
    return {quotient, make(dividend.constant_, std::move(rest))};
  }

  static std::int64_t evaluate(const Atom& atom, const SymbolValues& values) {
    if (atom.kind == Atom::Kind::symbol) {
      const auto found = values.find(atom.name);
      if (found == values.end()) {
        fail(ErrorCode::invalid_argument, "the size '{}' is not known; give it as --size {}=NUMBER", atom.name,
             atom.name);
      }
      return found->second;
    }
    const std::int64_t left = atom.left.evaluate(values), right = atom.right.evaluate(values);
    if (atom.kind == Atom::Kind::floor_divide) return floor_quotient(left, right);
    return atom.kind == Atom::Kind::minimum ? std::min(left, right) : std::max(left, right);
  }

  static std::string text(const Atom& atom) {
    switch (atom.kind) {
      case Atom::Kind::symbol: return atom.name;
      case Atom::Kind::floor_divide:
        return std::format("floor(({})/({}))", atom.left.to_string(), atom.right.to_string());
      case Atom::Kind::minimum: return std::format("min({}, {})", atom.left.to_string(), atom.right.to_string());
      case Atom::Kind::maximum: return std::format("max({}, {})", atom.left.to_string(), atom.right.to_string());
    }
    return {};
  }
};

Dim Dim::symbol(std::string_view name) {
  Atom atom;
  atom.name = name;
  return Algebra::of_atom(std::move(atom));
}

std::optional<std::int64_t> Dim::constant() const noexcept {
  return is_constant() ? std::optional(constant_) : std::nullopt;
}

std::int64_t Dim::evaluate(const SymbolValues& values) const {
  std::int64_t result = constant_;
  for (const Term& term : Algebra::terms(*this)) {
    std::int64_t product = term.coefficient;
    for (const auto& factor : term.factors) product = checked_multiply(product, Algebra::evaluate(*factor, values));
    result = checked_add(result, product);
  }
  return result;
}

void Dim::collect_symbols(std::vector<std::string>& names) const {
  for (const Term& term : Algebra::terms(*this)) {
    for (const auto& factor : term.factors) {
      if (factor->kind == Atom::Kind::symbol) {
        if (!std::ranges::contains(names, factor->name)) names.push_back(factor->name);
      } else {
        factor->left.collect_symbols(names);
        factor->right.collect_symbols(names);
      }
    }
  }
}

std::string Dim::to_string() const {
  std::string text;
  for (const Term& term : Algebra::terms(*this)) {
    const bool negative = term.coefficient < 0;
    if (!text.empty() || negative) text += negative ? "-" : "+";
    const std::uint64_t magnitude =
        negative ? 0 - static_cast<std::uint64_t>(term.coefficient) : static_cast<std::uint64_t>(term.coefficient);
    if (magnitude != 1) text += std::format("{}*", magnitude);
    for (std::size_t i = 0; i < term.factors.size(); ++i)
      text += (i == 0 ? "" : "*") + Algebra::text(*term.factors[i]);
  }
  if (text.empty()) return std::to_string(constant_);
  if (constant_ != 0) text += std::format("{:+}", constant_);
  return text;
}

Dim operator+(const Dim& left, const Dim& right) { return Dim::Algebra::sum(left, right, 1); }
Dim operator-(const Dim& left, const Dim& right) { return Dim::Algebra::sum(left, right, -1); }

Dim operator*(const Dim& left, const Dim& right) {
  if (right.is_constant()) return Dim::Algebra::scaled(left, right.constant_);
  if (left.is_constant()) return Dim::Algebra::scaled(right, left.constant_);
  Dim result = Dim::Algebra::scaled(left - Dim(left.constant_), right.constant_) +
               Dim::Algebra::scaled(right - Dim(right.constant_), left.constant_) +
               Dim(checked_multiply(left.constant_, right.constant_));
  for (const Dim::Term& a : Dim::Algebra::terms(left)) {
    for (const Dim::Term& b : Dim::Algebra::terms(right)) {
      result = result + Dim::Algebra::make(0, {Dim::Algebra::product(a, b)});
    }
  }
  return result;
}

Dim Dim::floor_divide(const Dim& dividend, const Dim& divisor) {
  if (dividend.is_constant() && divisor.is_constant()) return floor_quotient(dividend.constant_, divisor.constant_);
  if (divisor.is_constant() && divisor.constant_ <= 0) {
    fail(ErrorCode::invalid_argument, "the size {} is divided by {}", dividend.to_string(), divisor.constant_);
  }
  auto [quotient, rest] = Algebra::split(dividend, divisor);
  if (rest == Dim(0)) return quotient;
  if (rest.is_constant() && divisor.is_constant()) return quotient;  // 0 <= rest < divisor after split
  Atom atom;
  atom.kind = Atom::Kind::floor_divide;
  atom.left = std::move(rest);
  atom.right = divisor;
  return quotient + Algebra::of_atom(std::move(atom));
}

Dim Dim::ceil_divide(const Dim& dividend, const Dim& divisor) {
  return floor_divide(dividend + divisor - Dim(1), divisor);
}

Dim Dim::minimum(const Dim& left, const Dim& right) {
  if (const auto difference = (left - right).constant()) return *difference <= 0 ? left : right;
  Atom atom;
  atom.kind = Atom::Kind::minimum;
  atom.left = std::min(left, right);
  atom.right = std::max(left, right);
  return Algebra::of_atom(std::move(atom));
}

Dim Dim::maximum(const Dim& left, const Dim& right) {
  if (const auto difference = (left - right).constant()) return *difference >= 0 ? left : right;
  Atom atom;
  atom.kind = Atom::Kind::maximum;
  atom.left = std::min(left, right);
  atom.right = std::max(left, right);
  return Algebra::of_atom(std::move(atom));
}

int Dim::compare(const Dim& left, const Dim& right) {
  if (left.terms_ != right.terms_) {
    const Terms &a = Algebra::terms(left), &b = Algebra::terms(right);
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (const int order = Algebra::compare_factors(a[i], b[i]); order != 0) return order;
      if (a[i].coefficient != b[i].coefficient) return a[i].coefficient < b[i].coefficient ? -1 : 1;
    }
  }
  return left.constant_ == right.constant_ ? 0 : left.constant_ < right.constant_ ? -1 : 1;
}

std::string shape_text(std::span<const Dim> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + shape[i].to_string();
  return text + "]";
}

Dim element_count(std::span<const Dim> shape) {
  Dim count = 1;
  for (const Dim& dim : shape) count = count * dim;
  return count;
}

Shape to_shape(std::span<const std::int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

std::optional<std::vector<std::int64_t>> to_numbers(std::span<const Dim> shape) {
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : shape) {
    if (!dim.is_constant()) return std::nullopt;
    numbers.push_back(*dim.constant());
  }
  return numbers;
}

std::vector<std::int64_t> evaluate(std::span<const Dim> shape, const SymbolValues& values) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(shape.size());
  for (const Dim& dim : shape) numbers.push_back(dim.evaluate(values));
  return numbers;
}

}  // namespace lapilli
