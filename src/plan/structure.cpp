#include "plan/structure.h"

#include <algorithm>

#include "base/failure.h"

namespace lapilli {

KernelLevel level_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32:
    case DType::int32:
    case DType::uint32: return KernelLevel::narrow;
    case DType::int64:
    case DType::uint64: return KernelLevel::int64;
    case DType::float64: return KernelLevel::float64;
    default: return KernelLevel::base;
  }
}

bool needs_double(DType dtype, const DeviceTraits& traits) noexcept {
  const bool able = traits.float64 && traits.storage_8bit && traits.storage_16bit;
  return dtype == DType::float64 || (able && is_integer(dtype) && bit_width(dtype) >= 16);
}

std::string_view level_name(KernelLevel level, const DeviceTraits& traits) {
  const auto require = [&](bool has, std::string_view feature) {
    if (!has) fail(ErrorCode::unsupported, "device '{}' has no {}, which this model needs", traits.name, feature);
  };
  if (level >= KernelLevel::base) require(traits.storage_8bit && traits.storage_16bit, "8- and 16-bit storage");
  if (level >= KernelLevel::float64) require(traits.float64, "double precision");
  switch (level) {
    case KernelLevel::narrow: return "narrow";
    case KernelLevel::base: return "base";
    case KernelLevel::int64: return "int64";
    case KernelLevel::float64: return "float64";
  }
  return {};
}

SymbolValues relevant_sizes(const Structure& structure, const SymbolValues& sizes) {
  SymbolValues relevant;
  for (const std::string& symbol : structure.symbols) {
    if (const auto found = sizes.find(symbol); found != sizes.end()) relevant.insert(*found);
  }
  return relevant;
}

double tuned_work(const Structure& structure, const SymbolValues& sizes) {
  double total = 0;
  for (const SymbolicDispatch& dispatch : structure.dispatches) {
    if (dispatch.tuned) total += static_cast<double>(dispatch.work.evaluate(sizes));
  }
  return total;
}

// Measured on an H200: ResNet-50 in float16 takes 1.5 times as long at batch 32 with what was tuned for batch 1, and
// 2.3 times as long the other way round.
bool serves(const Structure& structure, const SymbolValues& sizes) {
  constexpr double most_times = 4, least = 1e6;  // less is done in microseconds, however it is cut
  if (!guards_hold(structure.guards, sizes)) return false;
  const double work = std::max(tuned_work(structure, sizes), least), tuned_for = std::max(structure.tuned_for, least);
  return work <= most_times * tuned_for && tuned_for <= most_times * work;
}

std::vector<std::string> collect_symbols(const Structure& structure) {
  std::vector<std::string> symbols;
  for (const Guard& guard : structure.guards) {
    guard.left.collect_symbols(symbols);
    guard.right.collect_symbols(symbols);
  }
  for (const Storage& storage : structure.storages) {
    storage.size.collect_symbols(symbols);
    storage.shared.collect_symbols(symbols);
    if (!storage.part) continue;
    for (const Dim* dim : {&storage.part->begin, &storage.part->run, &storage.part->pitch}) {
      dim->collect_symbols(symbols);
    }
  }
  for (const SymbolicDispatch& dispatch : structure.dispatches) {
    dispatch.groups.collect_symbols(symbols);
    dispatch.work.collect_symbols(symbols);
    for (const ParameterWord& word : dispatch.parameters) word.value.collect_symbols(symbols);
  }
  for (const auto* ports : {&structure.inputs, &structure.outputs}) {
    for (const SymbolicPort& port : *ports) {
      for (const Dim& dim : port.shape) dim.collect_symbols(symbols);
    }
  }
  return symbols;
}

}  // namespace lapilli
