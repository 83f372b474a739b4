#include "plan/instantiate.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/text.h"
#include "kernels/kernel_table.h"
#include "plan/barriers.h"
#include "plan/memory.h"

namespace lapilli {
namespace {

// As in src/kernels/include/parameters.glsl.
constexpr std::size_t pushed_words = 32, uniform_words = 128;
constexpr std::uint64_t word_bytes = 4, uniform_bytes = uniform_words * word_bytes;

struct Multiplier {
  std::uint32_t multiplier = 0, shift = 0;
};

// Granlund and Montgomery's multiplier for divisions of numbers below 2^31.
Multiplier multiplier_of(std::uint32_t divisor) {
  if (divisor <= 1) return {0, 0};
  const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  const std::uint64_t numerator = ((std::uint64_t{1} << shift) - divisor) << 32U;
  return {static_cast<std::uint32_t>(numerator / divisor + 1), shift};
}

class Instantiation {
 public:
  Instantiation(const Structure& structure, const SymbolValues& sizes, const DeviceTraits& traits)
      : structure_(structure), sizes_(sizes), traits_(traits) {}

  InstantiatedProgram run() {
    program_.origins = structure_.origins;
    find_live_dispatches();
    place_storages();
    program_.inputs = ports(structure_.inputs);
    program_.outputs = ports(structure_.outputs);
    for (const std::uint32_t number : order_) {
      const SymbolicDispatch& symbolic = structure_.dispatches[number];
      with_context(structure_.origins[symbolic.origin], [&] { dispatches_.push_back(make_dispatch(symbolic)); });
    }
    if (!program_.parameters.empty()) {
      program_.parameters.resize(program_.parameters.size() + uniform_bytes, 0);
      program_.segments[parameters_segment_].size = program_.parameters.size();
    }
    program_.steps = insert_barriers(std::move(dispatches_));
    report_.dispatches = static_cast<std::size_t>(std::ranges::count_if(
        program_.steps, [](const Step& step) { return std::holds_alternative<Dispatch>(step); }));
    report_.barriers = program_.steps.size() - report_.dispatches;
    report_.pipelines = program_.pipelines.size();
    return {std::move(program_), report_};
  }

 private:
  // Dispatches with nothing to do are left out; the rest are ordered by level.
  void find_live_dispatches() {
    for (std::uint32_t i = 0; i < structure_.dispatches.size(); ++i) {
      const SymbolicDispatch& dispatch = structure_.dispatches[i];
      groups_.push_back(dispatch.groups.evaluate(sizes_));
      if (groups_.back() > 0) order_.push_back(i);
    }
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return structure_.dispatches[i].level; });
    for (const std::uint32_t i : order_)
      report_.levels = std::max<std::size_t>(report_.levels, structure_.dispatches[i].level + 1);
  }

  void place_storages() {
    constexpr std::uint32_t none = 0xFFFFFFFFU;
    std::vector<MemoryUse> uses(structure_.storages.size(), {0, none, 0});
    for (const std::uint32_t i : order_) {
      const SymbolicDispatch& dispatch = structure_.dispatches[i];
      for (const StorageAccess& access : dispatch.bindings) {
        MemoryUse& use = uses[memory_of(access.storage)];
        use.first = std::min(use.first, dispatch.level);
        use.last = std::max(use.last, dispatch.level);
      }
    }
    check_sizes();
    segments_.assign(structure_.storages.size(), none);
    offsets_.assign(structure_.storages.size(), 0);
    std::vector<MemoryUse> arena_uses;
    std::vector<std::size_t> arena_storages;
    for (std::size_t i = 0; i < structure_.storages.size(); ++i) {
      const Storage& storage = structure_.storages[i];
      // What has no elements is bound all the same, and a binding is made of whole words.
      const auto size =
          align_up(std::max<std::uint64_t>(4, static_cast<std::uint64_t>(storage.size.evaluate(sizes_))), word_bytes);
      storage_sizes_.push_back(size);
      if (storage.part) continue;
      if (storage.kind != SegmentKind::arena) {
        add_segment(i, size);
      } else if (uses[i].first != none) {
        arena_uses.push_back({size, uses[i].first, uses[i].last});
        arena_storages.push_back(i);
      }
    }
    place_arena(arena_uses, arena_storages);
  }

  // Names the node of a tensor that the device cannot allocate.
  void check_sizes() const {
    for (const std::uint32_t i : order_) {
      const SymbolicDispatch& dispatch = structure_.dispatches[i];
      for (const StorageAccess& access : dispatch.bindings) {
        const std::int64_t bytes = structure_.storages[index_of(access.storage)].size.evaluate(sizes_);
        if (std::cmp_less_equal(bytes, traits_.max_allocation)) continue;
        fail(ErrorCode::limit_exceeded, "{}: a tensor of {} is needed, but the device allocates {} at once",
             structure_.origins[dispatch.origin], byte_text(static_cast<std::uint64_t>(bytes)),
             byte_text(traits_.max_allocation));
      }
    }
  }

  [[nodiscard]] std::size_t memory_of(StorageId storage) const {
    const auto& part = structure_.storages[index_of(storage)].part;
    return index_of(part ? part->whole : storage);
  }

  void add_segment(std::size_t storage, std::uint64_t size) {
    const Storage& source = structure_.storages[storage];
    segments_[storage] = static_cast<std::uint32_t>(program_.segments.size());
    program_.segments.push_back({source.kind, size});
    if (!source.constant) return;
    Constant constant = *source.constant;
    constant.segment = segments_[storage];
    program_.constants.push_back(std::move(constant));
    report_.weight_bytes += size;
  }

  void place_arena(std::span<const MemoryUse> uses, std::span<const std::size_t> storages) {
    if (uses.empty()) return;
    const std::uint64_t alignment = traits_.storage_alignment;
    const MemoryPlan plan = plan_memory(uses, alignment, largest_arena());
    if (const auto conflict = find_memory_conflict(uses, plan)) {
      fail(ErrorCode::internal, "the memory plan lets tensors {} and {} overlap", conflict->first, conflict->second);
    }
    const auto first = static_cast<std::uint32_t>(program_.segments.size());
    const std::uint64_t largest = largest_arena();
    for (std::uint64_t begin = 0; begin < plan.size; begin += largest) {
      program_.segments.push_back({SegmentKind::arena, std::min(largest, plan.size - begin)});
    }
    for (std::size_t i = 0; i < storages.size(); ++i) {
      segments_[storages[i]] = first + static_cast<std::uint32_t>(plan.offsets[i] / largest);
      offsets_[storages[i]] = plan.offsets[i] % largest;
      report_.blocks.push_back(
          {structure_.storages[storages[i]].name, plan.offsets[i], uses[i].size, uses[i].first, uses[i].last});
    }
    report_.arena_bytes = plan.size;
    report_.lower_bound_bytes = memory_lower_bound(uses, alignment);
    report_.unshared_bytes = memory_unshared(uses, alignment);
    for (const std::size_t storage : storages) {
      const auto shared = static_cast<std::uint64_t>(structure_.storages[storage].shared.evaluate(sizes_));
      report_.unshared_bytes = checked_add(report_.unshared_bytes, shared);
    }
  }

  // The arena is one allocation where the device has them that large.
  [[nodiscard]] std::uint64_t largest_arena() const {
    const std::uint64_t alignment = std::max<std::uint64_t>(traits_.storage_alignment, 1);
    return std::max(traits_.max_allocation / alignment * alignment, alignment);
  }

  std::vector<Port> ports(const std::vector<SymbolicPort>& symbolic) {
    std::vector<Port> result;
    for (const SymbolicPort& port : symbolic) {
      result.push_back({port.name, port.dtype, evaluate(port.shape, sizes_), segments_[index_of(port.storage)]});
    }
    return result;
  }

  std::uint32_t word(const ParameterWord& parameter) {
    if (parameter.kind == ParameterWord::Kind::literal) return parameter.bits;
    const std::int64_t value = parameter.value.evaluate(sizes_);
    constexpr std::int64_t largest = 0x7FFFFFFF;
    if (value > largest || value < -largest) {
      fail(ErrorCode::limit_exceeded, "{} = {} is past what kernels address ({})", parameter.value.to_string(), value,
           largest);
    }
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    if (parameter.kind == ParameterWord::Kind::value) return bits;
    const Multiplier multiplier = multiplier_of(bits);
    return parameter.kind == ParameterWord::Kind::multiplier ? multiplier.multiplier : multiplier.shift;
  }

  Dispatch make_dispatch(const SymbolicDispatch& symbolic) {
    Dispatch dispatch;
    dispatch.origin = symbolic.origin;
    dispatch.groups = split_groups(groups_[static_cast<std::size_t>(&symbolic - structure_.dispatches.data())]);
    std::vector<std::uint32_t> words;
    for (const ParameterWord& parameter : symbolic.parameters) words.push_back(word(parameter));
    const bool pushed = words.size() <= pushed_words;
    dispatch.bindings.push_back(parameter_binding(pushed ? std::span<const std::uint32_t>() : words));
    if (pushed) dispatch.push_constants = words;
    // Kernels declare all of them, whether their variant reads them or not.
    dispatch.push_constants.resize(pushed_words, 0);
    for (const StorageAccess& access : symbolic.bindings) dispatch.bindings.push_back(storage_binding(access));
    dispatch.pipeline = pipeline(symbolic, pushed);
    std::uint64_t elements = 0;
    for (const Binding& binding : dispatch.bindings) elements += binding.size / word_bytes;
    dispatch.work =
        std::max(elements, static_cast<std::uint64_t>(std::max<std::int64_t>(symbolic.work.evaluate(sizes_), 0)));
    return dispatch;
  }

  [[nodiscard]] std::array<std::uint32_t, 3> split_groups(std::int64_t count) const {
    std::array<std::uint32_t, 3> groups{1, 1, 1};
    auto rest = static_cast<std::uint64_t>(count);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, traits_.max_groups[axis]));
      groups[axis] = part;
      rest = divide_up<std::uint64_t>(rest, part);
    }
    if (rest > 1) {
      fail(ErrorCode::limit_exceeded, "{} workgroups are needed, but the device allows {} x {} x {}", count,
           traits_.max_groups[0], traits_.max_groups[1], traits_.max_groups[2]);
    }
    return groups;
  }

  Binding parameter_binding(std::span<const std::uint32_t> words) {
    if (words.size() > uniform_words)
      fail(ErrorCode::internal, "{} parameters where kernels take {}", words.size(), uniform_words);
    if (program_.parameters.empty()) {
      parameters_segment_ = static_cast<std::uint32_t>(program_.segments.size());
      program_.segments.push_back({SegmentKind::parameters, 0});
      program_.parameters.resize(4, 0);
    }
    if (words.empty()) return {parameters_segment_, 0, uniform_bytes, Access::read};
    const std::uint64_t offset = align_up<std::uint64_t>(program_.parameters.size(), traits_.uniform_alignment);
    program_.parameters.resize(offset + words.size_bytes());
    std::ranges::copy(std::as_bytes(words), reinterpret_cast<std::byte*>(program_.parameters.data() + offset));
    return {parameters_segment_, offset, uniform_bytes, Access::read};
  }

  [[nodiscard]] Binding storage_binding(const StorageAccess& access) const {
    const std::size_t storage = memory_of(access.storage);
    const std::uint64_t begin = access.window ? static_cast<std::uint64_t>(access.window->begin) : 0;
    const std::uint64_t size =
        access.window ? static_cast<std::uint64_t>(access.window->bytes) : storage_sizes_[storage];
    if (size > traits_.max_storage_range) {
      fail(ErrorCode::limit_exceeded, "a tensor of {} bytes is bound, but the device allows {} at once", size,
           traits_.max_storage_range);
    }
    // Of a window all bytes count.
    const Stripes touched = access.window ? Stripes{} : stripes(access.storage);
    return {segments_[storage], offsets_[storage] + begin, size, access.access, touched};
  }

  [[nodiscard]] Stripes stripes(StorageId storage) const {
    const auto& part = structure_.storages[index_of(storage)].part;
    if (!part) return {};
    const auto number = [&](const Dim& dim) { return static_cast<std::uint64_t>(dim.evaluate(sizes_)); };
    return {number(part->begin), number(part->run), number(part->pitch)};
  }

  std::uint32_t pipeline(const SymbolicDispatch& symbolic, bool pushed) {
    PipelineSpec spec;
    spec.kernel = std::format("{}.{}", symbolic.kernel, level_name(symbolic.capabilities, traits_));
    const KernelModule* module = find_kernel(spec.kernel);
    if (module == nullptr) fail(ErrorCode::internal, "there is no kernel '{}'", spec.kernel);
    spec.specialization.push_back(pushed ? 1 : 0);
    spec.specialization.insert(spec.specialization.end(), symbolic.specialization.begin(),
                               symbolic.specialization.end());
    spec.subgroup_size = symbolic.subgroup_size;
    const auto next = static_cast<std::uint32_t>(program_.pipelines.size());
    const auto [found, added] = pipelines_.try_emplace(spec, next);
    if (added) program_.pipelines.push_back(std::move(spec));
    return found->second;
  }

  const Structure& structure_;
  const SymbolValues& sizes_;
  const DeviceTraits& traits_;
  Program program_;
  PlanReport report_;
  std::vector<std::int64_t> groups_;
  std::vector<std::uint32_t> order_;
  std::vector<Dispatch> dispatches_;
  std::vector<std::uint32_t> segments_;  // of each storage
  std::vector<std::uint64_t> offsets_, storage_sizes_;
  std::uint32_t parameters_segment_ = 0;
  std::map<PipelineSpec, std::uint32_t> pipelines_;
};

}  // namespace

InstantiatedProgram instantiate(const Structure& structure, const SymbolValues& sizes, const DeviceTraits& traits) {
  return Instantiation(structure, sizes, traits).run();
}

}  // namespace lapilli
