#include "plan/build.h"

#include <algorithm>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "ops/movement.h"
#include "plan/families.h"

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
        emission_(graph, assumptions, traits, options, structure_) {}

  Structure build() {
    place_inputs();
    choose_output_places();
    for (const NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      emission_.set_origin(node.origins);
      with_context(node.origins.empty() ? std::string(node.op->name()) : node.origins.front(),
                   [&] { build_node(node); });
    }
    finish_outputs();
    structure_.guards = emission_.assumptions().guards();
    structure_.symbols = collect_symbols(structure_);
    return std::move(structure_);
  }

 private:
  StorageId add_port_storage(SegmentKind kind, const std::string& name, const Fact& fact) {
    require_device_dtype(name, fact.dtype);
    const auto width = static_cast<std::int64_t>(device_element_bytes(fact.dtype));
    return emission_.add_storage({kind, element_count(fact.shape) * Dim(width), std::nullopt});
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
    layouts_[id] = layout;
    emission_.place(id, {storage, dtype, 0, layout.strides(graph_.fact(id).shape)});
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
    const Family& family = family_of(*node.op);
    std::vector<Layout> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(layout_of(input));
    const LayoutChoice choice = family.choose_layouts({graph_, node, options_, traits_, inputs});
    std::map<ValueId, Placement> copies;
    for (std::size_t i = 0; i < choice.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input != no_value && !graph_.is_constant(input)) satisfy(input, choice.inputs[i], copies);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) place_output(node.outputs[i], choice.outputs[i]);
    emission_.set_copies(std::move(copies));
    family.emit(node, emission_);
  }

  [[nodiscard]] Layout layout_of(ValueId id) const {
    if (id == no_value) return {};
    const auto found = layouts_.find(id);
    return found != layouts_.end() ? found->second : Layout::row_major(graph_.fact(id).shape.size());
  }

  void place_output(ValueId id, const Layout& layout) {
    if (emission_.is_placed(id)) return;
    const Fact& fact = graph_.fact(id);
    require_device_dtype(graph_.value(id).name, fact.dtype);
    layouts_[id] = layout;
    emission_.place(id, emission_.add_arena(emission_.stored_dtype(fact.dtype), fact.shape, layout));
  }

  // Makes a copy of an input that lies otherwise than required; each kind of copy is made once.
  void satisfy(ValueId id, const OperandRequirement& requirement, std::map<ValueId, Placement>& copies) {
    const Placement source = emission_.placement(id);
    const Shape& shape = graph_.fact(id).shape;
    const Layout layout = requirement.layout.value_or(layout_of(id));
    const DType dtype = requirement.dtype.value_or(source.dtype);
    const std::vector<Dim> strides = layout.strides(shape);
    const bool fits = !requirement.layout || same_strides(shape, source.strides, strides);
    if (fits && dtype == source.dtype) return;
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
    layouts_[output] = layout;
    const DType dtype = bits ? graph_.fact(output).dtype : source.dtype;
    emission_.place(output, {source.storage, dtype, source.offset, layout.strides(shape)});
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
  std::map<ValueId, Layout> layouts_;
  std::vector<MadeCopy> made_copies_;
};

}  // namespace

Structure build_structure(const Graph& graph, Assumptions& assumptions, const DeviceTraits& traits,
                          const PlanOptions& options) {
  return StructureBuilder(graph, assumptions, traits, options).build();
}

}  // namespace lapilli
