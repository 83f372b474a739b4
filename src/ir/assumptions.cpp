#include "ir/assumptions.h"

#include <algorithm>

namespace lapilli {
namespace {

bool compare(std::int64_t left, Relation relation, std::int64_t right) {
  return relation == Relation::equal ? left == right : left < right;
}

}  // namespace

bool Assumptions::equal(const Dim& left, const Dim& right) { return decide(left, Relation::equal, right); }
bool Assumptions::less(const Dim& left, const Dim& right) { return decide(left, Relation::less, right); }

std::int64_t Assumptions::number(const Dim& dim) {
  if (const auto constant = dim.constant()) return *constant;
  const std::int64_t value = dim.evaluate(sizes_);
  decide(dim, Relation::equal, value);
  return value;
}

bool Assumptions::decide(const Dim& left, Relation relation, const Dim& right) {
  if (const auto difference = (left - right).constant()) return compare(*difference, relation, 0);
  const bool outcome = compare(left.evaluate(sizes_), relation, right.evaluate(sizes_));
  const bool known = std::ranges::any_of(guards_, [&](const Guard& guard) {
    return guard.relation == relation && guard.left == left && guard.right == right;
  });
  if (!known) guards_.push_back({left, relation, right, outcome});
  return outcome;
}

bool guards_hold(const std::vector<Guard>& guards, const SymbolValues& sizes) {
  return std::ranges::all_of(guards, [&](const Guard& guard) {
    return compare(guard.left.evaluate(sizes), guard.relation, guard.right.evaluate(sizes)) == guard.outcome;
  });
}

}  // namespace lapilli
