#include "plan/emission.h"

#include <algorithm>
#include <bit>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"

namespace lapilli {
namespace {

Packing row_major_packing(const Tensor& tensor) {
  Packing packing{tensor.dtype(), tensor.shape(), tensor.shape(), std::vector<std::int64_t>(tensor.shape().size(), 1),
                  0};
  for (std::size_t i = packing.shape.size(); i-- > 1;) {
    packing.source_stride[i - 1] = packing.source_stride[i] * packing.shape[i];
  }
  return packing;
}

}  // namespace

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
    const StorageId storage = add_constant(fact.constant, row_major_packing(fact.constant));
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
    if (binding.access == Access::write) continue;
    const auto& writers = writers_[binding.storage];
    dispatch.after.insert(dispatch.after.end(), writers.begin(), writers.end());
  }
  std::ranges::sort(dispatch.after);
  dispatch.after.erase(std::ranges::unique(dispatch.after).begin(), dispatch.after.end());
  for (const std::uint32_t before : dispatch.after) {
    dispatch.level = std::max(dispatch.level, structure_.dispatches[before].level + 1);
  }
  for (const StorageAccess& binding : dispatch.bindings) {
    if (binding.access != Access::read) writers_[binding.storage].push_back(number);
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
