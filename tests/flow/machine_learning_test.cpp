// Operators of ai.onnx.ml as the host computes them. Expected values are worked out by hand from the specification.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "flow/host_node.h"
#include "import/onnx/expand.h"
#include "import/onnx/graph/evaluate.h"
#include "import/onnx/graph/part.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<float>;
using Attributes = std::vector<onnx::Attribute>;

// The node, or those that stand for it, with the host's evaluation where kernels run them.
std::vector<Value> run(std::string op_type, const Value& input, std::size_t outputs, Attributes attributes) {
  onnx::Model model;
  model.graph.nodes = {
      make_node(std::move(op_type), {"in"}, names("out", outputs), std::move(attributes), "ai.onnx.ml")};
  onnx::expand_nodes(model);
  std::map<std::string, Value> values{{"in", input}};
  for (const onnx::Node& node : model.graph.nodes) {
    std::vector<Value> results;
    if (onnx::runs_on_device(node)) {
      const std::array tensors{values.at(node.inputs[0]).tensor()};
      for (const Tensor& tensor : onnx::evaluate_node(node, tensors)) results.emplace_back(tensor);
    } else {
      results = run_on_host(node, {values.at(node.inputs[0])});
    }
    for (std::size_t i = 0; i < results.size(); ++i) values[node.outputs[i]] = results[i];
  }
  std::vector<Value> results;
  for (const std::string& name : names("out", outputs)) results.push_back(values.at(name));
  return results;
}

TEST(LabelEncoder, MapsAnyTypeToAnyOther) {
  const auto to_integers =
      run("LabelEncoder", texts({3}, {"b", "?", "a"}), 1,
          {attribute("keys_strings", Texts{"a", "b"}), attribute("values_int64s", Integers{10, 20})});
  EXPECT_EQ(integers_of(to_integers[0].tensor()), (Integers{20, -1, 10}));
  const auto to_reals = run("LabelEncoder", integer_tensor({2, 1}, {7, 8}), 1,
                            {attribute("keys_int64s", Integers{8}), attribute("values_floats", Reals{0.5F}),
                             attribute("default_float", 2.5F)});
  EXPECT_EQ(to_reals[0].tensor().shape(), (Integers{2, 1}));
  EXPECT_EQ(floats_of(to_reals[0].tensor()), (Reals{2.5F, 0.5F}));
  const float missing = std::nanf("");
  const auto to_texts =
      run("LabelEncoder", float_tensor({3}, {missing, -0.0F, 1}), 1,
          {attribute("keys_floats", Reals{missing, 0}), attribute("values_strings", Texts{"none", "zero"})});
  EXPECT_EQ(strings_in(to_texts[0]), (Texts{"none", "zero", "_Unused"}));
}

TEST(LabelEncoder, FindsNumbersAmongNumbers) {
  const double missing = std::nan("");
  const std::vector<double> keys{3, missing, -1, 0, 3}, wanted{missing, -0.0, 3, 7, -1, -2};
  const auto result = run("LabelEncoder", Tensor::of<double>(DType::float64, {2, 3}, std::span(wanted)), 1,
                          {attribute("keys_tensor", Tensor::of<double>(DType::float64, {5}, std::span(keys))),
                           attribute("values_tensor", integer_tensor({5}, {1, 2, 3, 4, 5})),
                           attribute("default_tensor", integer_tensor({1}, {9}))});
  EXPECT_EQ(result[0].tensor().shape(), (Integers{2, 3}));
  EXPECT_EQ(integers_of(result[0].tensor()), (Integers{2, 4, 5, 9, 3, 9}));
  const auto none = run("LabelEncoder", integer_tensor({2}, {1, 2}), 1,
                        {attribute("keys_int64s", Integers{}), attribute("values_int64s", Integers{})});
  EXPECT_EQ(integers_of(none[0].tensor()), (Integers{-1, -1}));
  EXPECT_NE(error_of([] {
              run("LabelEncoder", float_tensor({1}, {1}), 1,
                  {attribute("keys_int64s", Integers{1}), attribute("values_int64s", Integers{1})});
            }),
            "");
}

TEST(LabelEncoder, TakesTensors) {
  const std::vector<double> values{0.25, 0.5};
  const std::vector<double> otherwise{-1};
  const auto result = run("LabelEncoder", texts({2}, {"y", "z"}), 1,
                          {attribute("keys_tensor", texts({2}, {"x", "y"})),
                           attribute("values_tensor", Tensor::of<double>(DType::float64, {2}, values)),
                           attribute("default_tensor", Tensor::of<double>(DType::float64, {1}, otherwise))});
  const auto numbers = result[0].tensor().elements<double>();
  EXPECT_EQ((std::vector<double>{numbers.begin(), numbers.end()}), (std::vector<double>{0.5, -1}));
}

TEST(LabelEncoder, ChecksItsAttributes) {
  const Tensor input = texts({1}, {"a"});
  EXPECT_NE(error_of([&] {
              run("LabelEncoder", input, 1,
                  {attribute("keys_strings", Texts{"a", "b"}), attribute("values_int64s", Integers{1})});
            }),
            "");
  EXPECT_NE(error_of([&] {
              run("LabelEncoder", input, 1,
                  {attribute("keys_int64s", Integers{1}), attribute("values_int64s", Integers{1})});
            }),
            "");
  EXPECT_NE(error_of([&] { run("LabelEncoder", input, 1, {attribute("keys_strings", Texts{"a"})}); }), "");
}

TEST(CategoryMapper, MapsBothWays) {
  const Attributes attributes{attribute("cats_strings", Texts{"cat", "dog"}),
                              attribute("cats_int64s", Integers{5, 6}),
                              attribute("default_string", std::string("other"))};
  EXPECT_EQ(integers_of(run("CategoryMapper", texts({2}, {"dog", "cow"}), 1, attributes)[0].tensor()),
            (Integers{6, -1}));
  EXPECT_EQ(strings_in(run("CategoryMapper", integer_tensor({2}, {5, 1}), 1, attributes)[0]),
            (Texts{"cat", "other"}));
}

TEST(OneHotEncoder, MarksStrings) {
  const auto result =
      run("OneHotEncoder", texts({2, 1}, {"b", "?"}), 1, {attribute("cats_strings", Texts{"a", "b"})});
  EXPECT_EQ(result[0].tensor().shape(), (Integers{2, 1, 2}));
  EXPECT_EQ(floats_of(result[0].tensor()), (Reals{0, 1, 0, 0}));
  EXPECT_NE(error_of([] {
              run("OneHotEncoder", texts({1}, {"?"}), 1,
                  {attribute("cats_strings", Texts{"a"}), attribute("zeros", std::int64_t{0})});
            }),
            "");
}

TEST(LinearClassifier, NamesItsClasses) {
  const auto both = run("LinearClassifier", float_tensor({2, 2}, {2, 1, 0, 3}), 2,
                        {attribute("coefficients", Reals{1, 0, 0, 1}), attribute("intercepts", Reals{0, 0.5F}),
                         attribute("classlabels_strings", Texts{"left", "right"})});
  EXPECT_EQ(strings_in(both[0]), (Texts{"left", "right"}));
  EXPECT_EQ(floats_of(both[1].tensor()), (Reals{2, 1.5F, 0, 3.5F}));
  const auto one =
      run("LinearClassifier", float_tensor({2, 2}, {2, 1, 0, 3}), 2,
          {attribute("coefficients", Reals{1, -1}), attribute("classlabels_strings", Texts{"no", "yes"})});
  EXPECT_EQ(strings_in(one[0]), (Texts{"yes", "no"}));
  EXPECT_EQ(floats_of(one[1].tensor()), (Reals{-1, 1, 3, -3}));
}

// Tree 0: x0 <= 1 ? leaf 1 : (x1 > 5 ? leaf 3 : leaf 4). Tree 1 is a leaf.
Attributes two_trees() {
  return {attribute("nodes_treeids", Integers{0, 0, 0, 0, 0, 1}),
          attribute("nodes_nodeids", Integers{0, 1, 2, 3, 4, 0}),
          attribute("nodes_featureids", Integers{0, 0, 1, 0, 0, 0}),
          attribute("nodes_modes", Texts{"BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "LEAF"}),
          attribute("nodes_values", Reals{1, 0, 5, 0, 0, 0}),
          attribute("nodes_truenodeids", Integers{1, 0, 3, 0, 0, 0}),
          attribute("nodes_falsenodeids", Integers{2, 0, 4, 0, 0, 0}),
          attribute("nodes_missing_value_tracks_true", Integers{0, 0, 1, 0, 0, 0})};
}

Attributes regressor(const std::string& aggregate) {
  Attributes attributes = two_trees();
  attributes.push_back(attribute("target_treeids", Integers{0, 0, 0, 0, 1}));
  attributes.push_back(attribute("target_nodeids", Integers{1, 3, 3, 4, 0}));
  attributes.push_back(attribute("target_ids", Integers{0, 0, 1, 1, 0}));
  attributes.push_back(attribute("target_weights", Reals{10, 20, 30, 40, 6}));
  attributes.push_back(attribute("n_targets", std::int64_t{2}));
  attributes.push_back(attribute("aggregate_function", aggregate));
  attributes.push_back(attribute("base_values", Reals{0.5F, 0}));
  return attributes;
}

TEST(TreeEnsembleRegressor, AddsUpLeaves) {
  const float missing = std::nanf("");
  const Tensor rows = float_tensor({4, 2}, {1, 0, 2, 6, 2, 5, missing, missing});
  const auto of = [&](const std::string& aggregate) {
    return floats_of(run("TreeEnsembleRegressor", rows, 1, regressor(aggregate))[0].tensor());
  };
  EXPECT_EQ(of("SUM"), (Reals{16.5F, 0, 26.5F, 30, 6.5F, 40, 26.5F, 30}));
  EXPECT_EQ(of("AVERAGE"), (Reals{8.5F, 0, 13.5F, 15, 3.5F, 20, 13.5F, 15}));
  EXPECT_EQ(of("MIN"), (Reals{6.5F, 0, 6.5F, 30, 6.5F, 40, 6.5F, 30}));
  EXPECT_EQ(of("MAX"), (Reals{10.5F, 0, 20.5F, 30, 6.5F, 40, 20.5F, 30}));
}

TEST(TreeEnsembleRegressor, RefusesBrokenTrees) {
  const auto error_with = [](const std::string& name, const onnx::Attribute::Value& value) {
    Attributes attributes = regressor("SUM");
    for (onnx::Attribute& each : attributes) {
      if (each.name == name) each.value = value;
    }
    return error_of([&] { run("TreeEnsembleRegressor", float_tensor({1, 2}, {2, 6}), 1, attributes); });
  };
  EXPECT_NE(error_with("nodes_truenodeids", Integers{1, 0, 0, 0, 0, 0}).find("circles"), std::string::npos);
  EXPECT_NE(error_with("nodes_truenodeids", Integers{9, 0, 3, 0, 0, 0}).find("no node 9"), std::string::npos);
  EXPECT_NE(error_with("nodes_featureids", Integers{2, 0, 1, 0, 0, 0}).find("feature 2"), std::string::npos);
  EXPECT_NE(error_with("nodes_featureids", Integers{-1, 0, 1, 0, 0, 0}), "");
  EXPECT_NE(error_with("nodes_nodeids", Integers{0, 1, 2, 3, 3, 0}), "");
  EXPECT_NE(error_with("nodes_values", Reals{1}), "");
  EXPECT_NE(error_with("target_ids", Integers{0, 0, 2, 1, 0}), "");
  EXPECT_NE(error_with("target_ids", Integers{0, 0, -1, 1, 0}), "");
  EXPECT_NE(error_with("n_targets", std::numeric_limits<std::int64_t>::max()), "");
  EXPECT_NE(error_with("base_values", Reals{1}), "");
}

// x0 in {1, 4, 6} ? (x1 < 2 ? leaf 0 : leaf 1) : leaf 2; and x1 in {} ? leaf 0 : leaf 3.
Attributes tree_of_sets(std::int64_t missing) {
  const float end = std::nanf("");
  const std::vector<std::uint8_t> modes{6, 1, 6};
  return {attribute("nodes_featureids", Integers{0, 1, 1}),
          attribute("nodes_modes", Tensor::of<std::uint8_t>(DType::uint8, {3}, std::span(modes))),
          attribute("nodes_splits", float_tensor({3}, {0, 2, 0})),
          attribute("nodes_truenodeids", Integers{1, 0, 0}),
          attribute("nodes_falsenodeids", Integers{2, 1, 3}),
          attribute("nodes_trueleafs", Integers{0, 1, 1}),
          attribute("nodes_falseleafs", Integers{1, 1, 1}),
          attribute("nodes_missing_value_tracks_true", Integers{missing, 0, missing}),
          attribute("membership_values", float_tensor({5}, {6, 1, 4, end, end})),
          attribute("leaf_targetids", Integers{0, 1, 1, 0}),
          attribute("leaf_weights", float_tensor({4}, {10, 20, 30, 40})),
          attribute("tree_roots", Integers{0, 2}),
          attribute("n_targets", std::int64_t{2})};
}

TEST(TreeEnsemble, DecidesBySets) {
  const float missing = std::nanf("");
  const Tensor rows = float_tensor({6, 2}, {1, 1, 4, 2, 6, 0, 5, 0, 0, 0, missing, 3});
  EXPECT_EQ(floats_of(run("TreeEnsemble", rows, 1, tree_of_sets(0))[0].tensor()),
            (Reals{50, 0, 40, 20, 50, 0, 40, 30, 40, 30, 40, 30}));
  EXPECT_EQ(floats_of(run("TreeEnsemble", float_tensor({1, 2}, {missing, missing}), 1, tree_of_sets(1))[0].tensor()),
            (Reals{10, 20}));
}

// The numbers of the transforms are those of the specification.
TEST(TreeEnsemble, TransformsScores) {
  Attributes attributes = tree_of_sets(0);
  attributes.push_back(attribute("post_transform", std::int64_t{1}));
  const Tensor row = float_tensor({1, 2}, {0, 0});  // 40 and 30 before
  const double share = 1 / (1 + std::exp(-10.0));
  EXPECT_NEAR(floats_of(run("TreeEnsemble", row, 1, attributes)[0].tensor())[0], share, 1e-6);
  attributes.back().value = std::int64_t{2};
  for (onnx::Attribute& each : attributes) {
    if (each.name == "leaf_weights") each.value = float_tensor({4}, {1, 2, 3, 4});
  }
  const auto scores = floats_of(run("TreeEnsemble", row, 1, attributes)[0].tensor());
  EXPECT_NEAR(scores[0], 1 / (1 + std::exp(-4.0)), 1e-6);
  EXPECT_NEAR(scores[1], 1 / (1 + std::exp(-3.0)), 1e-6);
  attributes.back().value = std::int64_t{5};
  EXPECT_NE(error_of([&] { run("TreeEnsemble", row, 1, attributes); }), "");
}

TEST(TreeEnsemble, RefusesBrokenTrees) {
  const auto error_with = [](const std::string& name, const onnx::Attribute::Value& value) {
    Attributes attributes = tree_of_sets(0);
    for (onnx::Attribute& each : attributes) {
      if (each.name == name) each.value = value;
    }
    return error_of([&] { run("TreeEnsemble", float_tensor({1, 2}, {1, 1}), 1, attributes); });
  };
  const float end = std::nanf("");
  EXPECT_NE(error_with("nodes_falseleafs", Integers{0, 0, 1}), "");
  EXPECT_NE(error_with("nodes_trueleafs", Integers{0, 0, 1}).find("circles"), std::string::npos);
  EXPECT_NE(error_with("nodes_truenodeids", Integers{1, 4, 0}).find("leaf 4"), std::string::npos);
  EXPECT_NE(error_with("nodes_truenodeids", Integers{-1, 0, 0}), "");
  EXPECT_NE(error_with("tree_roots", Integers{3}), "");
  EXPECT_NE(error_with("membership_values", float_tensor({2}, {1, end})), "");
  EXPECT_NE(error_with("membership_values", float_tensor({3}, {end, end, end})), "");
  EXPECT_NE(error_with("leaf_targetids", Integers{0, 1, 2, 0}), "");
  EXPECT_NE(error_with("n_targets", std::int64_t{0}), "");
}

// Far deeper than any stack.
TEST(TreeEnsemble, GoesDown) {
  constexpr std::int64_t depth = 200000;
  Integers features(depth, 0), ways(depth), leaves(depth, 0), zeros(depth, 0), ones(depth, 1);
  for (std::int64_t i = 0; i < depth; ++i) ways[static_cast<std::size_t>(i)] = i + 1;
  ways.back() = 1;
  leaves.back() = 1;
  const std::vector<std::uint8_t> modes(depth, 0);
  const Attributes attributes{
      attribute("nodes_featureids", features),
      attribute("nodes_modes", Tensor::of<std::uint8_t>(DType::uint8, {depth}, std::span(modes))),
      attribute("nodes_splits", float_tensor({depth}, Reals(depth, 1))),
      attribute("nodes_truenodeids", ways),
      attribute("nodes_falsenodeids", zeros),
      attribute("nodes_trueleafs", leaves),
      attribute("nodes_falseleafs", ones),
      attribute("leaf_targetids", Integers{0, 0}),
      attribute("leaf_weights", float_tensor({2}, {5, 7})),
      attribute("tree_roots", Integers{0}),
      attribute("n_targets", std::int64_t{1})};
  EXPECT_EQ(floats_of(run("TreeEnsemble", float_tensor({2, 1}, {1, 2}), 1, attributes)[0].tensor()), (Reals{7, 5}));
}

TEST(TreeEnsembleClassifier, DecidesByOneScoreOrByTheLargest) {
  Attributes attributes = two_trees();
  attributes.push_back(attribute("class_treeids", Integers{0, 0, 0, 1}));
  attributes.push_back(attribute("class_nodeids", Integers{1, 3, 4, 0}));
  attributes.push_back(attribute("class_ids", Integers{0, 0, 0, 0}));
  attributes.push_back(attribute("class_weights", Reals{0.5F, 0.25F, 0, 0.125F}));
  attributes.push_back(attribute("classlabels_strings", Texts{"no", "yes"}));
  const Tensor rows = float_tensor({2, 2}, {1, 0, 2, 6});
  const auto one_score = run("TreeEnsembleClassifier", rows, 2, attributes);
  EXPECT_EQ(strings_in(one_score[0]), (Texts{"yes", "no"}));
  EXPECT_EQ(floats_of(one_score[1].tensor()), (Reals{0.375F, 0.625F, 0.625F, 0.375F}));
  for (onnx::Attribute& each : attributes) {
    if (each.name == "class_ids") each.value = Integers{2, 0, 1, 0};
    if (each.name == "classlabels_strings") each.value = Texts{"red", "green", "blue"};
  }
  const auto largest = run("TreeEnsembleClassifier", rows, 2, attributes);
  EXPECT_EQ(strings_in(largest[0]), (Texts{"blue", "red"}));
  EXPECT_EQ(floats_of(largest[1].tensor()), (Reals{0.125F, 0, 0.5F, 0.375F, 0, 0}));
}

// Opposite vectors on a line: the score of a pair is what the nearer one's kernel has more.
TEST(SupportVectorClassifier, LetsPairsVote) {
  const Attributes attributes{attribute("kernel_type", std::string("LINEAR")),
                              attribute("vectors_per_class", Integers{1, 1, 1}),
                              attribute("support_vectors", Reals{1, 0, 0, 1, -1, -1}),
                              attribute("coefficients", Reals{1, -1, -1, 1, 1, -1}),
                              attribute("rho", Reals{0, 0, 0}),
                              attribute("classlabels_ints", Integers{7, 8, 9})};
  const auto result = run("SVMClassifier", float_tensor({3, 2}, {4, 1, 1, 4, -3, -2}), 2, attributes);
  EXPECT_EQ(integers_of(result[0].tensor()), (Integers{7, 8, 9}));
  // x0 - x1, x0 + (x0 + x1), x1 + (x0 + x1)
  EXPECT_EQ(floats_of(result[1].tensor()), (Reals{3, 9, 6, -3, 6, 9, -1, -8, -7}));
}

TEST(SupportVectorClassifier, ChecksItsAttributes) {
  const auto error_with = [](Attributes attributes) {
    attributes.push_back(attribute("classlabels_ints", Integers{0, 1}));
    return error_of([&] { run("SVMClassifier", float_tensor({1, 2}, {1, 2}), 2, attributes); });
  };
  EXPECT_NE(error_with({attribute("coefficients", Reals{1, 2, 3}), attribute("rho", Reals{0})}), "");
  EXPECT_NE(error_with({attribute("coefficients", Reals{1, 2, 3, 4})}), "");
  EXPECT_NE(error_with({attribute("vectors_per_class", Integers{1, -1}), attribute("support_vectors", Reals{1, 2}),
                        attribute("coefficients", Reals{1}), attribute("rho", Reals{0})}),
            "");
  EXPECT_EQ(error_with({attribute("coefficients", Reals{1, 2, 3, 4}), attribute("rho", Reals{0, 0})}), "");
}

TEST(ZipMap, GivesEachRowAMap) {
  const Tensor scores = float_tensor({2, 2}, {0.25F, 0.75F, 0.5F, 0.125F});
  const auto named = run("ZipMap", scores, 1, {attribute("classlabels_strings", Texts{"no", "yes"})});
  ASSERT_EQ(named[0].elements().size(), 2U);
  EXPECT_EQ(strings_in(named[0].elements()[1].map().keys), (Texts{"no", "yes"}));
  EXPECT_EQ(floats_of(named[0].elements()[1].map().values), (Reals{0.5F, 0.125F}));
  const auto one = run("ZipMap", float_tensor({2}, {1, 2}), 1, {attribute("classlabels_int64s", Integers{7, 3})});
  ASSERT_EQ(one[0].elements().size(), 1U);
  EXPECT_EQ(integers_of(one[0].elements()[0].map().keys), (Integers{7, 3}));
  EXPECT_NE(error_of([&] { run("ZipMap", scores, 1, {attribute("classlabels_int64s", Integers{1})}); }), "");
  EXPECT_NE(error_of([&] { run("ZipMap", scores, 1, {attribute("classlabels_int64s", Integers{1, 1})}); }), "");
  EXPECT_NE(error_of([&] { run("ZipMap", scores, 1, {}); }), "");
}

TEST(DictVectorizer, PutsValuesInTheOrderOfItsVocabulary) {
  const Value map = Value::map(texts({2}, {"b", "a"}), float_tensor({2}, {2, 1}));
  const auto result = run("DictVectorizer", map, 1, {attribute("string_vocabulary", Texts{"a", "c", "b"})});
  EXPECT_EQ(result[0].tensor().shape(), (Integers{1, 3}));
  EXPECT_EQ(floats_of(result[0].tensor()), (Reals{1, 0, 2}));
  const Value words = Value::map(integer_tensor({1}, {4}), texts({1}, {"four"}));
  const auto of_words = run("DictVectorizer", words, 1, {attribute("int64_vocabulary", Integers{4, 5})});
  EXPECT_EQ(strings_in(of_words[0]), (Texts{"four", ""}));
  EXPECT_NE(error_of([&] { run("DictVectorizer", map, 1, {attribute("int64_vocabulary", Integers{1})}); }), "");
  EXPECT_NE(error_of([&] {
              run("DictVectorizer", float_tensor({1}, {1}), 1, {attribute("int64_vocabulary", Integers{1})});
            }),
            "");
}

TEST(CastMap, PlacesValuesByTheirKeys) {
  const Value map = Value::map(integer_tensor({2}, {3, 1}), texts({2}, {"3.5", "1"}));
  const auto dense = run("CastMap", map, 1, {attribute("cast_to", std::string("TO_FLOAT"))});
  EXPECT_EQ(dense[0].tensor().shape(), (Integers{1, 2}));
  EXPECT_EQ(floats_of(dense[0].tensor()), (Reals{1, 3.5F}));
  const auto sparse =
      run("CastMap", map, 1, {attribute("map_form", std::string("SPARSE")), attribute("max_map", std::int64_t{3})});
  EXPECT_EQ(floats_of(sparse[0].tensor()), (Reals{0, 1, 0}));
  const auto error_with = [&](const Value& input, Attributes attributes) {
    return error_of([&] { run("CastMap", input, 1, std::move(attributes)); });
  };
  EXPECT_NE(error_with(map, {attribute("cast_to", std::string("TO_DOUBLE"))}), "");
  EXPECT_NE(error_with(Value::map(integer_tensor({1}, {-1}), float_tensor({1}, {1})),
                       {attribute("map_form", std::string("SPARSE"))}),
            "");
  EXPECT_NE(error_with(map, {attribute("map_form", std::string("SPARSE")),
                             attribute("max_map", std::numeric_limits<std::int64_t>::max())}),
            "");
}

TEST(Map, ChecksItsParts) {
  EXPECT_NE(error_of([] { Value::map(float_tensor({1}, {1}), float_tensor({1}, {1})); }), "");
  EXPECT_NE(error_of([] { Value::map(integer_tensor({1}, {1}), float_tensor({2}, {1, 2})); }), "");
  EXPECT_NE(error_of([] { Value::map(integer_tensor({2}, {1, 1}), float_tensor({2}, {1, 2})); }), "");
  EXPECT_NE(error_of([] { static_cast<void>(Value(float_tensor({1}, {1})).map()); }), "");
}

}  // namespace
}  // namespace lapilli::testing
