#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/dim.h"

namespace lapilli {

enum class Relation : std::uint8_t { equal, less };

/// A comparison that a decision was based on: the decision is right for all sizes for which it has the same outcome.
struct Guard {
  Dim left;
  Relation relation = Relation::equal;
  Dim right;
  bool outcome = true;
};

/// Decides comparisons of symbolic sizes while a structure is made, and keeps what it assumed.
///
/// What the symbols alone decide (`batch < batch + 1`) costs nothing. Everything else is decided for the sizes at
/// hand and recorded as a guard: the structure serves every other set of sizes for which the guards hold.
class Assumptions {
 public:
  explicit Assumptions(SymbolValues sizes) : sizes_(std::move(sizes)) {}

  /// Adds sizes that were not known before.
  void learn(const SymbolValues& sizes) { sizes_.insert(sizes.begin(), sizes.end()); }

  bool equal(const Dim& left, const Dim& right);
  bool less(const Dim& left, const Dim& right);
  /// The number that a dimension has now; specialises the structure to it.
  std::int64_t number(const Dim& dim);

  [[nodiscard]] const SymbolValues& sizes() const noexcept { return sizes_; }
  [[nodiscard]] const std::vector<Guard>& guards() const noexcept { return guards_; }

 private:
  bool decide(const Dim& left, Relation relation, const Dim& right);

  SymbolValues sizes_;
  std::vector<Guard> guards_;
};

/// Whether all guards have their outcome with these sizes.
bool guards_hold(const std::vector<Guard>& guards, const SymbolValues& sizes);

}  // namespace lapilli
