#include "flow/part_plan.h"

#include <algorithm>
#include <format>
#include <utility>

#include "base/failure.h"
#include "base/integers.h"
#include "import/onnx/graph/import.h"
#include "import/onnx/graph/part.h"

namespace lapilli {
namespace {

std::optional<Fact> fact_of(const std::string& name, const KnownValue& known, int wanted) {
  if (!known.is_tensor() || known.dtype() == DType::string) return std::nullopt;
  Fact fact = Fact::of(known.dtype(), known.shape());
  if (wanted == 0) return fact;
  const auto symbols = onnx::element_symbols({name, known.dtype(), to_shape(known.sizes())});
  if (wanted > 1 || !symbols) return Fact::of_constant(known.value().tensor());
  fact.shape = to_shape(known.sizes());
  fact.elements.emplace();
  for (const std::string& symbol : *symbols) fact.elements->push_back(Dim::symbol(symbol));
  return fact;
}

bool same_elements(const Tensor& left, const Tensor& right) {
  return left.dtype() == right.dtype() && left.shape() == right.shape() &&
         std::ranges::equal(left.bytes(), right.bytes());
}

void learn(const Dim& dim, std::int64_t value, SymbolValues& sizes) {
  std::vector<std::string> symbols;
  dim.collect_symbols(symbols);
  if (symbols.size() == 1 && dim == Dim::symbol(symbols[0])) sizes[symbols[0]] = value;
}

// The sizes that a value has where its fact has symbols.
void learn(const Fact& fact, const KnownValue& known, SymbolValues& sizes) {
  for (std::size_t axis = 0; axis < fact.shape.size(); ++axis) learn(fact.shape[axis], known.sizes()[axis], sizes);
  if (!fact.elements) return;
  for (std::size_t i = 0; i < fact.elements->size(); ++i) {
    learn((*fact.elements)[i], integer_at(known.value().tensor(), i), sizes);
  }
}

}  // namespace

std::optional<SymbolValues> PartPlan::sizes_for(const Scope& scope) const {
  SymbolValues sizes;
  for (const auto& [name, fact] : outside) {
    const KnownValue* known = scope.find(name);
    if (known == nullptr || !known->is_tensor() || known->dtype() != fact.dtype) return std::nullopt;
    if (fact.constant.defined()) {
      if (!same_elements(fact.constant, known->value().tensor())) return std::nullopt;
      continue;
    }
    if (known->sizes().size() != fact.shape.size()) return std::nullopt;
    learn(fact, *known, sizes);
    if (evaluate(fact.shape, sizes) != known->sizes()) return std::nullopt;
  }
  if (!serves(structure, sizes)) return std::nullopt;
  return sizes;
}

PartPlans::Planned PartPlans::plan_for(const Scope& scope, std::size_t first) {
  const std::scoped_lock lock(mutex_);
  Entry& entry = entries_[{&scope.graph(), first}];
  for (std::size_t i = 0; i < entry.plans.size(); ++i) {
    auto sizes = entry.plans[i]->sizes_for(scope);
    if (!sizes) continue;
    std::rotate(entry.plans.begin(), entry.plans.begin() + static_cast<std::ptrdiff_t>(i),
                entry.plans.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return {entry.plans.front(), std::move(*sizes)};
  }
  auto plan = make(scope, first, entry.known);
  constexpr std::size_t most_plans = 8;
  if (entry.plans.size() == most_plans) entry.plans.pop_back();
  entry.plans.insert(entry.plans.begin(), plan);
  return {plan, plan->sizes_for(scope).value()};
}

void PartPlans::trim() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

std::shared_ptr<const PartPlan> PartPlans::make(const Scope& scope, std::size_t first, Known& known) const {
  while (true) {
    try {
      return try_to_make(scope, first, known);
    } catch (const onnx::UnknownElements& unknown) {
      int& level = known[unknown.name];
      if (level == 2) fail(ErrorCode::internal, "the elements of '{}' are known and asked for again", unknown.name);
      ++level;
    }
  }
}

std::shared_ptr<const PartPlan> PartPlans::try_to_make(const Scope& scope, std::size_t first,
                                                       const Known& known) const {
  auto plan = std::make_shared<PartPlan>();
  Assumptions assumptions({});
  std::vector<const onnx::Graph*> around;
  for (const Scope* outer = scope.around(); outer != nullptr; outer = outer->around())
    around.push_back(&outer->graph());
  onnx::PartRequest request{scope.graph(), around, first, {}, {}};
  request.outside = [&](const std::string& name) -> std::optional<Fact> {
    const KnownValue* value = scope.find(name);
    if (value == nullptr) fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
    const auto level = known.find(name);
    auto fact = fact_of(name, *value, level == known.end() ? 0 : level->second);
    if (!fact) return fact;
    plan->outside[name] = *fact;
    SymbolValues sizes;
    if (!fact->constant.defined()) learn(*fact, *value, sizes);
    assumptions.learn(sizes);
    return fact;
  };
  onnx::Part part = onnx::build_part(request, assumptions);
  plan->end = part.end;
  plan->inputs = std::move(part.inputs);
  plan->outputs = std::move(part.outputs);
  if (part.end == first) return plan;
  if (options_.optimise) (void)rewrite(part.graph, assumptions, options_.disabled_rules);
  plan->structure = build_structure(part.graph, assumptions, traits_, options_.plan);
  return plan;
}

}  // namespace lapilli
