#include "plan/build.h"

#include <algorithm>
#include <format>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "plan/families.h"
#include "plan/half_range.h"
#include "plan/homes.h"
#include "plan/residents.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

// Types that kernels load and store.
void require_device_dtype(const std::string& value, DType dtype) {
  if (bit_width(dtype) == 0)
    fail(ErrorCode::unsupported, "value '{}' is of type {}, which kernels do not have yet", value, to_string(dtype));
}

class StructureBuilder {
 public:
  StructureBuilder(const Graph& graph, Assumptions& assumptions, const DeviceTraits& traits,
                   const PlanOptions& options)
      : graph_(graph),
        traits_(traits),
        options_(options),
        emission_(graph, assumptions, traits, options, structure_),
        homes_(find_homes(graph)),
        residents_(graph, emission_) {}

  Structure build() {
    place_inputs();
    choose_output_places();
    for (const NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      emission_.set_origin(node.origins);
      with_context(node.origins.empty() ? std::string(node.op->name()) : node.origins.front(),
                   [&] { build_node(node); });
      residents_.set_built(id);
    }
    finish_outputs();
    structure_.guards = emission_.assumptions().guards();
    structure_.symbols = collect_symbols(structure_);
    structure_.tuned_for = tuned_work(structure_, emission_.assumptions().sizes());
    return std::move(structure_);
  }

 private:
  StorageId add_port_storage(SegmentKind kind, const std::string& name, const Fact& fact) {
    require_device_dtype(name, fact.dtype);
    const auto width = static_cast<std::int64_t>(device_element_bytes(fact.dtype));
    return with_context(std::format("the bytes of {}, {}", name, fact.to_string()), [&] {
      return emission_.add_storage({kind, element_count(fact.shape) * Dim(width), std::nullopt});
    });
  }

  void place_inputs() {
    for (const ValueId id : graph_.inputs()) {
      const GraphValue& value = graph_.value(id);
      const StorageId storage = add_port_storage(SegmentKind::input, value.name, value.fact);
      structure_.inputs.push_back({value.name, value.fact.dtype, value.fact.shape, storage});
      place_row_major(id, storage, value.fact.dtype);
    }
  }

  void place_row_major(ValueId id, StorageId storage, DType dtype) {
    const Layout layout = Layout::row_major(graph_.fact(id).shape.size());
    place(id, {storage, dtype, 0, layout.strides(graph_.fact(id).shape)}, layout);
  }

  void place(ValueId id, Placement placement, const Layout& layout) {
    layouts_[id] = layout;
    emission_.set_name(placement.storage, graph_.value(id).name);
    residents_.add(placement.storage, id);
    emission_.place(id, std::move(placement));
  }

  // The value whose elements a chain of views shows.
  [[nodiscard]] ValueId root_of(ValueId id) const {
    while (graph_.value(id).producer != no_node &&
           operator_as<Reshape>(graph_.node(graph_.value(id).producer)) != nullptr) {
      id = graph_.node(graph_.value(id).producer).inputs[0];
    }
    return id;
  }

  [[nodiscard]] bool used_only_as_output(ValueId id) const {
    return std::ranges::all_of(graph_.value(id).consumers, [&](NodeId consumer) {
      const Node& node = graph_.node(consumer);
      return operator_as<Reshape>(node) != nullptr && used_only_as_output(node.outputs[0]);
    });
  }

  // Lets kernels write results straight into the output's memory where nobody else reads them.
  void choose_output_places() {
    for (const ValueId id : graph_.outputs()) {
      const GraphValue& value = graph_.value(id);
      const StorageId storage = add_port_storage(SegmentKind::output, value.name, value.fact);
      structure_.outputs.push_back({value.name, value.fact.dtype, value.fact.shape, storage});
      const ValueId root = root_of(id);
      const bool direct = graph_.value(root).producer != no_node && !graph_.is_constant(root) &&
                          used_only_as_output(root) && !emission_.is_placed(root);
      if (direct) place_row_major(root, storage, value.fact.dtype);
    }
  }

  void finish_outputs() {
    emission_.set_copies({});
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId id = graph_.outputs()[i];
      const SymbolicPort& port = structure_.outputs[i];
      const Placement source = emission_.placement(id);
      if (source.storage == port.storage) continue;
      const std::array<std::string, 1> origins{"output " + port.name};
      emission_.set_origin(origins);
      const Layout layout = Layout::row_major(port.shape.size());
      emit_copy(source, {port.storage, port.dtype, 0, layout.strides(port.shape)}, port.shape, emission_);
    }
  }

  void build_node(const Node& node) {
    emission_.set_copies({});
    if (operator_as<Reshape>(node) != nullptr || operator_as<BitCast>(node) != nullptr) return build_view(node);
    if (!emission_.is_placed(node.outputs[0])) {
      const auto start = viewed_start(graph_, node, emission_.assumptions());
      if (start && build_slice(node, *start)) return;
      if (operator_as<Transpose>(node) != nullptr && build_transposed_view(node)) return;
    }
    const Family& family = family_of(*node.op);
    std::vector<Layout> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(layout_of(input));
    LayoutChoice choice = family.choose_layouts({graph_, node, options_, traits_, inputs});
    if (const auto layout = wanted_layout(node)) choice.outputs[0] = *layout;
    std::map<ValueId, Placement> copies;
    for (std::size_t i = 0; i < choice.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input != no_value && !graph_.is_constant(input)) satisfy(input, choice.inputs[i], copies);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (emission_.is_placed(node.outputs[i])) continue;
      if (i == 0 && place_in_input(node, choice, copies)) continue;
      place_output(node.outputs[i], choice.outputs[i], choice.dense_outputs);
    }
    emission_.set_copies(std::move(copies));
    family.emit(node, emission_);
  }

  [[nodiscard]] Layout layout_of(ValueId id) const {
    if (id == no_value) return {};
    const auto found = layouts_.find(id);
    return found != layouts_.end() ? found->second : Layout::row_major(graph_.fact(id).shape.size());
  }

  [[nodiscard]] DType stored_dtype(ValueId id) const {
    const DType own = graph_.fact(id).dtype, stored = emission_.stored_dtype(own);
    return stored != own && needs_float32(graph_, id) ? own : stored;
  }

  void place_output(ValueId id, const Layout& layout, bool dense) {
    const Fact& fact = graph_.fact(id);
    require_device_dtype(graph_.value(id).name, fact.dtype);
    if (!dense && place_at_home(id, layout)) return;
    place(id, emission_.add_arena(stored_dtype(id), fact.shape, layout), layout);
  }

  // Where a Concat wants it. The first value that is at home in an output decides its layout.
  bool place_at_home(ValueId id, const Layout& layout) {
    const auto found = homes_.find(id);
    if (found == homes_.end()) return false;
    const Home& home = found->second;
    const Shape &shape = graph_.fact(id).shape, &whole = graph_.fact(home.whole).shape;
    if (!emission_.is_placed(home.whole)) {
      place_output(home.whole, channels_last_for(home.whole).value_or(layout), true);
    }
    const Placement& target = emission_.placement(home.whole);
    // Kernels bind all of it.
    if (exceeds_bindings({&target.storage, 1}, emission_)) return false;
    // Others than the Concat would read from the output's memory, which is the host's.
    const bool port = !residents_.in_arena(target.storage);
    if (port && graph_.value(id).consumers.size() > 1) return false;
    if (!same_strides(whole, target.strides, layout.strides(whole))) return false;
    const Placement part = emission_.part_of(target, whole, home.axis, home.start, shape[home.axis]);
    emission_.add_shared(part, shape);
    place(id, part, layout);
    return true;
  }

  // The first output in the memory of an input that nobody needs any more.
  bool place_in_input(const Node& node, const LayoutChoice& choice, const std::map<ValueId, Placement>& copies) {
    const ValueId output = node.outputs[0];
    if (homes_.contains(output)) return false;
    const Fact& fact = graph_.fact(output);
    for (const std::size_t i : choice.replaceable) {
      const ValueId input = node.inputs[i];
      if (graph_.fact(input).shape != fact.shape || copies.contains(input)) continue;
      if (!emission_.is_placed(input) || !residents_.end_at(node, input)) continue;
      const Placement& placement = emission_.placement(input);
      if (placement.dtype != stored_dtype(output) || placement.offset != Dim(0)) continue;
      if (!same_strides(fact.shape, placement.strides, choice.outputs[0].strides(fact.shape))) continue;
      emission_.add_shared(placement, fact.shape);
      place(output, placement, choice.outputs[0]);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool fits(ValueId id, const Placement& source, const OperandRequirement& requirement) {
    const Shape& shape = graph_.fact(id).shape;
    const Layout current = layout_of(id), layout = requirement.layout.value_or(current);
    const bool aligned_start = requirement.multiple == 0 || source.offset == Dim(0);
    if (aligned_start && same_strides(shape, source.strides, layout.strides(shape))) return true;
    if (requirement.multiple == 0) return !requirement.layout;
    return same_order(shape, current, layout) &&
           has_aligned_rows(shape, source.strides, layout, requirement.multiple, emission_.assumptions()) &&
           emission_.assumptions().equal(
               Dim::floor_divide(source.offset, requirement.multiple) * requirement.multiple, source.offset);
  }

  // Makes a copy of an input that lies otherwise than required; each kind of copy is made once.
  void satisfy(ValueId id, const OperandRequirement& requirement, std::map<ValueId, Placement>& copies) {
    const Placement source = emission_.placement(id);
    const Shape& shape = graph_.fact(id).shape;
    const Layout layout = requirement.layout.value_or(layout_of(id));
    const DType dtype = requirement.dtype.value_or(source.dtype);
    const std::vector<Dim> strides = layout.strides(shape);
    if (dtype == source.dtype && fits(id, source, requirement)) return;
    for (const MadeCopy& copy : made_copies_) {
      if (copy.value == id && copy.placement.dtype == dtype && copy.placement.strides == strides) {
        copies[id] = copy.placement;
        return;
      }
    }
    const Placement target = emission_.add_arena(dtype, shape, layout);
    emit_copy(source, target, shape, emission_);
    made_copies_.push_back({id, target});
    copies[id] = target;
  }

  void build_view(const Node& node) {
    const ValueId input = node.inputs[0], output = node.outputs[0];
    const Shape& shape = graph_.fact(output).shape;
    std::map<ValueId, Placement> copies;
    // Bits are those of the type itself, which may not be the one in which the values are stored.
    const bool bits = operator_as<BitCast>(node) != nullptr;
    OperandRequirement requirement{Layout::row_major(graph_.fact(input).shape.size()), std::nullopt};
    if (bits) requirement.dtype = graph_.fact(input).dtype;
    satisfy(input, requirement, copies);
    const Placement source = copies.contains(input) ? copies.at(input) : emission_.placement(input);
    const Layout layout = Layout::row_major(shape.size());
    const DType dtype = bits ? graph_.fact(output).dtype : source.dtype;
    place(output, {source.storage, dtype, source.offset, layout.strides(shape)}, layout);
  }

  // Kernels that read it bind all of the input.
  bool build_slice(const Node& node, std::span<const Dim> start) {
    const ValueId input = node.inputs[0], output = node.outputs[0];
    Shape shape = graph_.fact(input).shape;
    Placement placement = emission_.placement(input);
    if (exceeds_bindings({&placement.storage, 1}, emission_)) return false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const Dim& size = graph_.fact(output).shape[axis];
      placement = emission_.part_of(placement, shape, axis, start[axis], size);
      shape[axis] = size;
    }
    place(output, std::move(placement), layout_of(input));
    return true;
  }

  // Where a kernel may write as it likes, it writes as readers like it: that takes less than a copy.
  [[nodiscard]] std::optional<Layout> wanted_layout(const Node& node) const {
    if (const auto layout = layout_of_transposed_product(node)) return layout;
    if (operator_as<Pointwise>(node) == nullptr) return std::nullopt;
    const ValueId output = node.outputs[0];
    if (const auto home = homes_.find(output); home != homes_.end()) {
      const auto placed = layouts_.find(home->second.whole);
      return placed != layouts_.end() ? placed->second : channels_last_for(home->second.whole);
    }
    return channels_last_for(output);
  }

  // Channels innermost, where a convolution that reads the value wants that.
  [[nodiscard]] std::optional<Layout> channels_last_for(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    if (!options_.channels_last || value.fact.shape.size() < 3) return std::nullopt;
    const auto channels = value.fact.shape[1].constant();
    const bool wanted = std::ranges::any_of(value.consumers, [&](NodeId consumer) {
      const Node& node = graph_.node(consumer);
      return operator_as<Convolution>(node) != nullptr && node.inputs[0] == id;
    });
    if (!wanted || !channels || *channels % 4 != 0) return std::nullopt;
    return Layout::channels_last(value.fact.shape.size());
  }

  // A product that is only transposed is written so that the transposition has its elements in order.
  [[nodiscard]] std::optional<Layout> layout_of_transposed_product(const Node& node) const {
    const GraphValue& value = graph_.value(node.outputs[0]);
    if (operator_as<MatMul>(node) == nullptr || value.consumers.size() != 1 || graph_.is_output(node.outputs[0])) {
      return std::nullopt;
    }
    const auto* transpose = operator_as<Transpose>(graph_.node(value.consumers[0]));
    // Columns stay side by side.
    if (transpose == nullptr || transpose->permutation().back() != value.fact.rank() - 1) {
      return std::nullopt;
    }
    return Layout(transpose->permutation());
  }

  // A transposition changes strides alone where its result is in order without more ado, or where only products read
  // it, with elements side by side along an axis that lets them load vectors.
  bool build_transposed_view(const Node& node) {
    const ValueId input = node.inputs[0], output = node.outputs[0];
    if (graph_.is_constant(input)) return false;
    const std::vector<int>& permutation = operator_as<Transpose>(node)->permutation();
    Placement placement = emission_.placement(input);
    std::vector<int> axis_of(permutation.size());
    std::vector<Dim> strides;
    for (std::size_t i = 0; i < permutation.size(); ++i) {
      strides.push_back(placement.strides[static_cast<std::size_t>(permutation[i])]);
      axis_of[static_cast<std::size_t>(permutation[i])] = static_cast<int>(i);
    }
    placement.strides = std::move(strides);
    std::vector<int> order;
    const Layout layout = layout_of(input);
    for (const int axis : layout.order()) order.push_back(axis_of[static_cast<std::size_t>(axis)]);
    const bool in_order = is_row_major(graph_.fact(output).shape, placement.strides);
    if (!in_order && !only_products_read(output, placement)) return false;
    place(output, std::move(placement), Layout(std::move(order)));
    return true;
  }

  [[nodiscard]] bool only_products_read(ValueId value, const Placement& placement) const {
    const std::size_t rank = placement.strides.size();
    return !graph_.is_output(value) && std::ranges::all_of(graph_.value(value).consumers, [&](NodeId consumer) {
      const Node& node = graph_.node(consumer);
      const auto* product = operator_as<MatMul>(node);
      if (product == nullptr || std::ranges::contains(node.inputs.begin() + 2, node.inputs.end(), value))
        return false;
      const Dim &row = placement.strides[rank - 2], &column = placement.strides[rank - 1];
      const bool is_left = node.inputs[0] == value;
      const bool along_depth = (product->transpose_a() ? row : column) == Dim(1);
      return is_left ? along_depth : row == Dim(1) || column == Dim(1);
    });
  }

  struct MadeCopy {
    ValueId value;
    Placement placement;
  };

  const Graph& graph_;
  const DeviceTraits& traits_;
  const PlanOptions& options_;
  Structure structure_;
  Emission emission_;
  std::map<ValueId, Home> homes_;
  Residents residents_;
  std::map<ValueId, Layout> layouts_;
  std::vector<MadeCopy> made_copies_;
};

}  // namespace

Structure build_structure(const Graph& graph, Assumptions& assumptions, const DeviceTraits& traits,
                          const PlanOptions& options) {
  return StructureBuilder(graph, assumptions, traits, options).build();
}

}  // namespace lapilli
