#include "plan/structure.h"

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
