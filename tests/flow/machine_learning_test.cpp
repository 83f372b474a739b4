// Operators of ai.onnx.ml that the host runs. Expected values are worked out by hand from the specification.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flow/host_node.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<float>;
using Attributes = std::vector<onnx::Attribute>;

std::vector<Value> run(std::string op_type, const Tensor& input, std::size_t outputs, Attributes attributes) {
  return run_on_host(std::move(op_type), {input}, outputs, std::move(attributes), "ai.onnx.ml");
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

}  // namespace
}  // namespace lapilli::testing
