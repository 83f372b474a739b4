// Graphs run part by part. Expected values are worked out by hand.
#include "flow/flow.h"
#include "import/onnx/expand.h"

#include <gtest/gtest.h>

#include <array>

#include "flow/host_node.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Reals = std::vector<float>;
using Integers = std::vector<std::int64_t>;

onnx::ValueInfo info(std::string name, DType dtype, const std::vector<std::int64_t>& shape = {}) {
  onnx::ValueInfo result{std::move(name), {}};
  result.type.kind = onnx::Type::Kind::tensor;
  result.type.dtype = dtype;
  result.type.shape.emplace();
  for (const std::int64_t size : shape) result.type.shape->push_back({size, {}});
  return result;
}

onnx::Graph graph_of(std::string name, std::vector<onnx::Node> nodes, std::vector<onnx::ValueInfo> inputs,
                     std::vector<onnx::ValueInfo> outputs) {
  onnx::Graph graph;
  graph.name = std::move(name);
  graph.nodes = std::move(nodes);
  graph.inputs = std::move(inputs);
  graph.outputs = std::move(outputs);
  return graph;
}

onnx::Attribute body(std::string name, onnx::Graph graph) {
  return attribute(std::move(name), std::vector<onnx::Graph>{std::move(graph)});
}

std::vector<Value> run_model(const onnx::Model& model, std::vector<Value> inputs) {
  const VulkanDevice& device = test_device();
  Flow flow(model, device, std::make_shared<ResidentConstants>(device),
            std::make_shared<PartPlans>(device.traits(), FlowOptions{}));
  return flow.run(std::move(inputs));
}

Tensor boolean(bool value) {
  const std::uint8_t byte = value ? 1 : 0;
  return Tensor::of<std::uint8_t>(DType::boolean, {}, std::span<const std::uint8_t>(&byte, 1));
}

// d/da (a b)^2 = 2 a b^2, with the values of the inputs in each other's place.
TEST(Gradient, BuildsNodesAgainWithOtherValues) {
  onnx::Model model;
  onnx::Node gradient = make_node("Gradient", {"b", "a"}, {"slope"},
                                  {attribute("xs", std::vector<std::string>{"a"}),
                                   attribute("zs", std::vector<std::string>{"b"}), attribute("y", std::string("y"))},
                                  "ai.onnx.preview.training");
  gradient.opset_version = 1;
  model.graph = graph_of("main", {make_node("Mul", {"a", "b"}, {"c"}), make_node("Mul", {"c", "c"}, {"y"}), gradient},
                         {info("a", DType::float32, {2}), info("b", DType::float32, {2})},
                         {info("y", DType::float32, {2}), info("slope", DType::float32, {2})});
  const auto results = run_model(model, {float_tensor({2}, {3, 1}), float_tensor({2}, {5, 2})});
  EXPECT_EQ(floats_of(results[0].tensor()), (Reals{225, 4}));
  EXPECT_EQ(floats_of(results[1].tensor()), (Reals{90, 4}));
}

// A gradient that waits for itself, and one of what is made later.
TEST(Gradient, RefusesWhatIsNotBeforeIt) {
  onnx::Model model;
  onnx::Node gradient = make_node("Gradient", {"a"}, {"slope"},
                                  {attribute("xs", std::vector<std::string>{"a"}), attribute("y", std::string("y"))},
                                  "ai.onnx.preview.training");
  gradient.opset_version = 1;
  model.graph = graph_of("main", {gradient, make_node("Mul", {"slope", "a"}, {"y"})},
                         {info("a", DType::float32, {2})}, {info("y", DType::float32, {2})});
  EXPECT_NE(error_of([&] { run_model(model, {float_tensor({2}, {3, 1})}); }), "");
}

// A classifier with names for its classes: the numbers are the device's, the names and the maps the host's.
TEST(Parts, NameClassesAndMakeMaps) {
  onnx::Model model;
  const std::vector<std::string> labels{"no", "yes"};
  const onnx::Node classifier = make_node(
      "LinearClassifier", {"x"}, {"label", "scores"},
      {attribute("coefficients", Reals{1, 0, 0, 1}), attribute("classlabels_strings", labels)}, "ai.onnx.ml");
  const onnx::Node maps =
      make_node("ZipMap", {"scores"}, {"maps"}, {attribute("classlabels_strings", labels)}, "ai.onnx.ml");
  model.graph = graph_of("main", {classifier, maps}, {info("x", DType::float32, {2, 2})},
                         {info("label", DType::string, {2}), info("maps", DType::undefined)});
  onnx::expand_nodes(model);
  const auto results = run_model(model, {float_tensor({2, 2}, {1, 3, 4, 2})});
  EXPECT_EQ(strings_in(results[0]), (std::vector<std::string>{"yes", "no"}));
  EXPECT_EQ(floats_of(results[1].elements()[1].map().values), (Reals{4, 2}));
}

// Doubles a state of two numbers in each turn, and collects them.
onnx::Model doubling_loop() {
  onnx::Model model;
  onnx::Graph turn =
      graph_of("turn",
               {make_node("Identity", {"goes_on"}, {"goes_on_after"}),
                make_node("Add", {"state", "state"}, {"doubled"}), make_node("Neg", {"doubled"}, {"row"})},
               {info("turn", DType::int64), info("goes_on", DType::boolean), info("state", DType::float32, {2})},
               {info("goes_on_after", DType::boolean), info("doubled", DType::float32, {2}),
                info("row", DType::float32, {2})});
  model.graph =
      graph_of("main", {make_node("Loop", {"turns", "", "start"}, {"end", "rows"}, {body("body", std::move(turn))})},
               {info("turns", DType::int64), info("start", DType::float32, {2})},
               {info("end", DType::float32, {2}), info("rows", DType::float32)});
  return model;
}

TEST(Loop, CollectsARowEachTurn) {
  const auto results = run_model(doubling_loop(), {integer_tensor({}, {2}), float_tensor({2}, {1, -3})});
  EXPECT_EQ(floats_of(results[0].tensor()), (Reals{4, -12}));
  EXPECT_EQ(results[1].tensor().shape(), (Integers{2, 2}));
  EXPECT_EQ(floats_of(results[1].tensor()), (Reals{-2, 6, -4, 12}));
}

TEST(Loop, OfNoTurnsHasNoRows) {
  const auto results = run_model(doubling_loop(), {integer_tensor({}, {0}), float_tensor({2}, {1, -3})});
  EXPECT_EQ(floats_of(results[0].tensor()), (Reals{1, -3}));
  EXPECT_EQ(results[1].tensor().dtype(), DType::float32);
  EXPECT_EQ(results[1].tensor().shape(), (Integers{0, 2}));
}

// In the first two turns x + a, in the others x * b: an If in a Loop that reads the values of both graphs around it.
TEST(Loop, HasBranchesThatCaptureValues) {
  onnx::Model model;
  onnx::Graph early = graph_of("early", {make_node("Add", {"x", "a"}, {"sum"})}, {}, {info("sum", DType::float32)});
  onnx::Graph late =
      graph_of("late", {make_node("Mul", {"x", "b"}, {"product"})}, {}, {info("product", DType::float32)});
  onnx::Graph turn = graph_of(
      "turn",
      {make_node("Identity", {"goes_on"}, {"goes_on_after"}), make_node("Less", {"turn", "two"}, {"is_early"}),
       make_node("If", {"is_early"}, {"next"},
                 {body("then_branch", std::move(early)), body("else_branch", std::move(late))})},
      {info("turn", DType::int64), info("goes_on", DType::boolean), info("x", DType::float32)},
      {info("goes_on_after", DType::boolean), info("next", DType::float32), info("next", DType::float32)});
  model.graph = graph_of(
      "main", {make_node("Loop", {"turns", "goes", "start"}, {"end", "all"}, {body("body", std::move(turn))})},
      {info("start", DType::float32), info("a", DType::float32), info("b", DType::float32),
       info("goes", DType::boolean)},
      {info("end", DType::float32), info("all", DType::float32)});
  model.graph.initializers["turns"] = integer_tensor({}, {4});
  model.graph.initializers["two"] = integer_tensor({}, {2});
  const auto scalar = [](float value) { return float_tensor({}, {value}); };
  const auto results = run_model(model, {scalar(1), scalar(10), scalar(2), boolean(true)});
  EXPECT_EQ(floats_of(results[0].tensor()), (Reals{84}));
  EXPECT_EQ(floats_of(results[1].tensor()), (Reals{11, 21, 42, 84}));
  const auto none = run_model(model, {scalar(1), scalar(10), scalar(2), boolean(false)});
  EXPECT_EQ(floats_of(none[0].tensor()), (Reals{1}));
}

onnx::Model summing_scan(std::int64_t input_direction, std::int64_t output_direction) {
  onnx::Model model;
  onnx::Graph step =
      graph_of("step", {make_node("Add", {"sum", "x"}, {"sum_after"}), make_node("Neg", {"sum_after"}, {"y"})},
               {info("sum", DType::float32), info("x", DType::float32)},
               {info("sum_after", DType::float32), info("y", DType::float32)});
  model.graph =
      graph_of("main",
               {make_node("Scan", {"zero", "xs"}, {"total", "ys"},
                          {body("body", std::move(step)), attribute("num_scan_inputs", std::int64_t{1}),
                           attribute("scan_input_directions", Integers{input_direction}),
                           attribute("scan_output_directions", Integers{output_direction})})},
               {info("xs", DType::float32, {3})}, {info("total", DType::float32), info("ys", DType::float32, {3})});
  model.graph.initializers["zero"] = float_tensor({}, {0});
  return model;
}

TEST(Scan, GoesInEitherDirection) {
  const Tensor xs = float_tensor({3}, {1, 2, 4});
  const auto sums = [&](std::int64_t input_direction, std::int64_t output_direction) {
    const auto results = run_model(summing_scan(input_direction, output_direction), {xs});
    EXPECT_EQ(floats_of(results[0].tensor()), (Reals{7}));
    return floats_of(results[1].tensor());
  };
  EXPECT_EQ(sums(0, 0), (Reals{-1, -3, -7}));
  EXPECT_EQ(sums(1, 0), (Reals{-4, -6, -7}));
  EXPECT_EQ(sums(0, 1), (Reals{-7, -3, -1}));
  EXPECT_EQ(sums(1, 1), (Reals{-7, -6, -4}));
}

TEST(Flow, ErrorsInABodyNameItsNodeAndTheNodesAround) {
  onnx::Model model;
  onnx::Node pick = make_node("SequenceAt", {"pair", "turn"}, {"picked"});
  pick.name = "pick";
  onnx::Graph turn = graph_of("turn", {make_node("Identity", {"goes_on"}, {"goes_on_after"}), pick},
                              {info("turn", DType::int64), info("goes_on", DType::boolean)},
                              {info("goes_on_after", DType::boolean), info("picked", DType::float32)});
  onnx::Node loop = make_node("Loop", {"turns", ""}, {"rows"}, {body("body", std::move(turn))});
  loop.name = "outer";
  model.graph = graph_of("main", {make_node("SequenceConstruct", {"x", "x"}, {"pair"}), loop},
                         {info("turns", DType::int64), info("x", DType::float32)}, {info("rows", DType::float32)});
  const Tensor x = float_tensor({}, {5});
  EXPECT_EQ(floats_of(run_model(model, {integer_tensor({}, {2}), x})[0].tensor()), (Reals{5, 5}));
  const std::string error = error_of([&] { run_model(model, {integer_tensor({}, {3}), x}); });
  EXPECT_NE(error.find("pick"), std::string::npos) << error;
  EXPECT_NE(error.find("outer"), std::string::npos) << error;
  EXPECT_NE(error.find("position 2"), std::string::npos) << error;
}

TEST(Flow, OutputsThatTheHostMakesAreOfTheDeclaredTypes) {
  onnx::Model model;
  model.graph = graph_of("main", {make_node("StringConcat", {"x", "x"}, {"y"})}, {info("x", DType::string)},
                         {info("y", DType::int64)});
  EXPECT_EQ(error_of([&] { run_model(model, {texts({1}, {"a"})}); }),
            "output 'y' is declared as int64, but it is string");
}

TEST(PartPlans, ServeEverySizeThatTheirGuardsAllow) {
  const onnx::Graph graph = graph_of("main", {make_node("Add", {"x", "y"}, {"z"})}, {}, {info("z", DType::float32)});
  PartPlans plans(test_device().traits(), FlowOptions{});
  const auto plan_for = [&](std::int64_t x, std::int64_t y) {
    Scope scope(graph, nullptr);
    scope.set("x", KnownValue(Tensor::allocate(DType::float32, {x}), "x"));
    scope.set("y", KnownValue(Tensor::allocate(DType::float32, {y}), "y"));
    return plans.plan_for(scope, 0).plan;
  };
  const auto plan = plan_for(3, 3);
  EXPECT_EQ(plan->end, 1U);
  EXPECT_EQ(plan_for(5, 5), plan);
  // One that broadcasts is another structure, and the first is kept beside it.
  EXPECT_NE(plan_for(5, 1), plan);
  EXPECT_EQ(plan_for(7, 7), plan);
}

// NumPy: np.unique(x, return_index=True, ...) and np.compress(...) of the same strings.
TEST(Flow, SelectsStrings) {
  onnx::Model model;
  model.graph = graph_of("main",
                         {make_node("Unique", {"x"}, {"kinds", "", "places", "counts"}),
                          make_node("Compress", {"x", "wanted"}, {"taken"})},
                         {info("x", DType::string, {5}), info("wanted", DType::boolean, {3})},
                         {info("kinds", DType::string), info("places", DType::int64), info("counts", DType::int64),
                          info("taken", DType::string)});
  onnx::expand_nodes(model);
  constexpr std::array<std::uint8_t, 3> wanted{0, 1, 1};
  const auto results = run_model(
      model, {texts({5}, {"b", "a", "b", "c", "a"}), Tensor::of<std::uint8_t>(DType::boolean, {3}, wanted)});
  EXPECT_EQ(strings_in(results[0]), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(integers_of(results[1].tensor()), (std::vector<std::int64_t>{1, 0, 1, 2, 0}));
  EXPECT_EQ(integers_of(results[2].tensor()), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(strings_in(results[3]), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace lapilli::testing
