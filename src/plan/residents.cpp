#include "plan/residents.h"

#include <algorithm>

namespace lapilli {

void Residents::set_built(NodeId node) {
  if (built_.size() <= index_of(node)) built_.resize(index_of(node) + 1, false);
  built_[index_of(node)] = true;
}

bool Residents::in_arena(StorageId storage) const { return emission_.storage(storage).kind == SegmentKind::arena; }

bool Residents::read_before(ValueId value, const Node& node) const {
  return !graph_.is_output(value) && std::ranges::all_of(graph_.value(value).consumers, [&](NodeId consumer) {
    return &graph_.node(consumer) == &node || (index_of(consumer) < built_.size() && built_[index_of(consumer)]);
  });
}

bool Residents::end_at(const Node& node, ValueId input) const {
  const StorageId storage = emission_.place_of(input).storage;
  const auto found = values_.find(storage);
  if (emission_.storage(storage).part || !in_arena(storage) || found == values_.end()) return false;
  if (!std::ranges::contains(found->second, input) || std::ranges::count(node.inputs, input) != 1) return false;
  std::uint32_t ready = 0;
  for (const ValueId other : node.inputs) {
    if (other == no_value || !emission_.is_placed(other)) continue;
    const StorageId place = emission_.place_of(other).storage;
    // Elements of the same memory that another operand reads are not those at the same index.
    if (other != input && emission_.whole_of(place) == storage) return false;
    ready = std::max(ready, emission_.level_after_writers(place));
  }
  return emission_.level_after_readers(storage) <= ready &&
         std::ranges::all_of(found->second, [&](ValueId value) { return read_before(value, node); });
}

}  // namespace lapilli
