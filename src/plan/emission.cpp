#include "plan/emission.h"

#include <algorithm>
#include <bit>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "program/pack.h"

namespace lapilli {
DType Emission::stored_dtype(DType dtype) const noexcept {
  return dtype == DType::float32 && options_.precision == Precision::float16 ? DType::float16 : dtype;
}

const Placement& Emission::placement(ValueId value) {
  if (const auto found = copies_.find(value); found != copies_.end()) return found->second;
  if (const auto found = placements_.find(value); found != placements_.end()) return found->second;
  const Fact& fact = graph_.fact(value);
  const Layout layout = Layout::row_major(fact.shape.size());
  Placement placement;
  if (fact.constant.defined()) {
    const StorageId storage =
        add_constant(fact.constant, dense_packing(fact.constant.dtype(), fact.constant.shape()));
    placement = {storage, fact.dtype, 0, layout.strides(fact.shape)};
  } else if (fact.elements) {
    placement = add_arena(fact.dtype, fact.shape, layout);
    write_elements(*fact.elements, placement);
  } else {
    fail(ErrorCode::internal, "value '{}' has no place yet", graph_.value(value).name);
  }
  return placements_.emplace(value, std::move(placement)).first->second;
}

void Emission::write_elements(std::span<const Dim> elements, const Placement& placement) {
  constexpr std::uint32_t invocations = 64;
  for (std::size_t first = 0; first < elements.size(); first += invocations) {
    const auto part = elements.subspan(first, std::min<std::size_t>(invocations, elements.size() - first));
    SymbolicDispatch dispatch;
    dispatch.kernel = "known";
    dispatch.capabilities = level_of(placement.dtype);
    dispatch.specialization = {invocations, static_cast<std::uint32_t>(placement.dtype)};
    dispatch.bindings.push_back({placement.storage, Access::write});
    ParameterWriter parameters;
    parameters.value(static_cast<std::int64_t>(part.size())).value(static_cast<std::int64_t>(first));
    for (const Dim& element : part) parameters.value(element);
    dispatch.parameters = parameters.take();
    dispatch.groups = 1;
    add_dispatch(std::move(dispatch));
  }
}

StorageId Emission::add_storage(Storage storage) {
  structure_.storages.push_back(std::move(storage));
  return StorageId{static_cast<std::uint32_t>(structure_.storages.size() - 1)};
}

Placement Emission::add_arena(DType dtype, std::span<const Dim> shape, const Layout& layout) {
  const auto width = static_cast<std::int64_t>(device_element_bytes(dtype));
  const StorageId storage = add_storage({SegmentKind::arena, element_count(shape) * Dim(width), std::nullopt});
  return {storage, dtype, 0, layout.strides(shape)};
}

Placement Emission::part_of(const Placement& placement, std::span<const Dim> shape, std::size_t axis,
                            const Dim& start, const Dim& size) {
  Placement part = placement;
  const Dim& stride = placement.strides[axis];
  part.offset = part.offset + start * stride;
  const Dim width = static_cast<std::int64_t>(device_element_bytes(placement.dtype));
  const Dim pitch = shape[axis] * stride * width, begin = start * stride * width, run = size * stride * width;
  const Storage& storage = structure_.storages[index_of(placement.storage)];
  if (run == pitch || pitch == Dim(0)) return part;
  StoragePart region{placement.storage, begin, run, pitch};
  if (storage.part) {
    // Parts along another axis than the part itself are not told apart.
    if (storage.part->run != pitch) return part;
    region = {storage.part->whole, storage.part->begin + begin, run, storage.part->pitch};
  } else if (placement.offset != Dim(0) || element_count(shape) * width != storage.size) {
    return part;
  }
  part.storage = add_storage({storage.kind, storage.size, std::nullopt, std::move(region), {}});
  return part;
}

StorageId Emission::whole_of(StorageId storage) const {
  const auto& part = structure_.storages[index_of(storage)].part;
  return part ? part->whole : storage;
}

void Emission::set_name(StorageId storage, const std::string& name) {
  std::string& current = structure_.storages[index_of(whole_of(storage))].name;
  if (current.empty()) current = name;
}

std::uint32_t Emission::level_after(StorageId storage, std::vector<Use> Uses::* uses) const {
  const auto found = uses_.find(whole_of(storage));
  std::uint32_t level = 0;
  if (found == uses_.end()) return level;
  for (const Use& use : found->second.*uses) {
    if (may_share(storage, use.storage)) level = std::max(level, structure_.dispatches[use.dispatch].level + 1);
  }
  return level;
}

std::uint32_t Emission::level_after_writers(StorageId storage) const { return level_after(storage, &Uses::writers); }
std::uint32_t Emission::level_after_readers(StorageId storage) const { return level_after(storage, &Uses::readers); }

void Emission::add_shared(const Placement& placement, std::span<const Dim> shape) {
  Dim& shared = structure_.storages[index_of(whole_of(placement.storage))].shared;
  shared = shared + element_count(shape) * Dim(static_cast<std::int64_t>(device_element_bytes(placement.dtype)));
}

// Parts are apart only where numbers show it for all sizes.
bool Emission::may_share(StorageId left, StorageId right) const {
  if (left == right) return true;
  const auto &a = structure_.storages[index_of(left)].part, &b = structure_.storages[index_of(right)].part;
  if (!a || !b || a->pitch != b->pitch) return true;
  const auto ends_before = [](const StoragePart& first, const StoragePart& second) {
    const auto gap = (second.begin - first.begin - first.run).constant();
    return gap && *gap >= 0;
  };
  return !ends_before(*a, *b) && !ends_before(*b, *a);
}

StorageId Emission::add_constant(const Tensor& source, const Packing& packing) {
  for (std::size_t i = 0; i < structure_.storages.size(); ++i) {
    const auto& constant = structure_.storages[i].constant;
    if (constant && constant->source.bytes().data() == source.bytes().data() &&
        constant->source.dtype() == source.dtype() && constant->packing == packing) {
      return StorageId{static_cast<std::uint32_t>(i)};
    }
  }
  const Dim bytes =
      Dim(element_count(packing.shape)) * Dim(static_cast<std::int64_t>(device_element_bytes(packing.dtype)));
  return add_storage({SegmentKind::constant, bytes, Constant{0, source, packing}});
}

std::uint32_t Emission::add_dispatch(SymbolicDispatch dispatch) {
  const auto number = static_cast<std::uint32_t>(structure_.dispatches.size());
  for (const StorageAccess& binding : dispatch.bindings) {
    const Uses& uses = uses_[whole_of(binding.storage)];
    const auto wait_for = [&](const std::vector<Use>& others) {
      for (const Use& other : others) {
        if (may_share(binding.storage, other.storage)) dispatch.after.push_back(other.dispatch);
      }
    };
    if (binding.access != Access::write) wait_for(uses.writers);
    if (binding.access != Access::read) wait_for(uses.readers);
  }
  std::ranges::sort(dispatch.after);
  dispatch.after.erase(std::ranges::unique(dispatch.after).begin(), dispatch.after.end());
  for (const std::uint32_t before : dispatch.after) {
    dispatch.level = std::max(dispatch.level, structure_.dispatches[before].level + 1);
  }
  for (const StorageAccess& binding : dispatch.bindings) {
    Uses& uses = uses_[whole_of(binding.storage)];
    if (binding.access != Access::read) uses.writers.push_back({binding.storage, number});
    if (binding.access != Access::write) uses.readers.push_back({binding.storage, number});
  }
  dispatch.origin = origin_;
  structure_.dispatches.push_back(std::move(dispatch));
  return number;
}

void Emission::set_origin(std::span<const std::string> origins) {
  origin_ = static_cast<std::uint32_t>(structure_.origins.size());
  structure_.origins.push_back(join(origins, " + "));
}

ParameterWriter& ParameterWriter::value(const Dim& value) {
  words_.push_back({ParameterWord::Kind::value, 0, value});
  return *this;
}

ParameterWriter& ParameterWriter::literal(std::uint32_t bits) {
  words_.push_back({ParameterWord::Kind::literal, bits, {}});
  return *this;
}

ParameterWriter& ParameterWriter::real(float value) { return literal(std::bit_cast<std::uint32_t>(value)); }

ParameterWriter& ParameterWriter::divisor(const Dim& value) {
  words_.push_back({ParameterWord::Kind::value, 0, value});
  words_.push_back({ParameterWord::Kind::multiplier, 0, value});
  words_.push_back({ParameterWord::Kind::shift, 0, value});
  return *this;
}

}  // namespace lapilli
