#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "api/test_models.h"
#include "lapilli/error.h"
#include "lapilli/model.h"

namespace lapilli {
namespace {

using testing::floats;
using testing::found_model;
using testing::layers_input;
using testing::layers_model;
using testing::layers_values;
using testing::open_device;
using testing::shaped_model;

template <class Action>
std::optional<std::string> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

TEST(Context, reads_results_of_one_run_while_the_next_ones_run) {
  const Device device = open_device();
  Context context(Model::load(layers_model, device));
  std::vector<lapilli::Run> runs;
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::array<Tensor, 1> inputs{layers_input(3, i)};
    runs.push_back(context.submit(inputs));
  }
  for (const std::int64_t i : {3, 0, 7, 1, 2, 6, 5, 4}) {
    EXPECT_EQ(floats(runs[static_cast<std::size_t>(i)].results()[0]), layers_values(layers_input(3, i)).y) << i;
    EXPECT_TRUE(runs[static_cast<std::size_t>(i)].done());
  }
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Context, has_its_inputs_written_in_place) {
  const Device device = open_device();
  Context context(Model::load(layers_model, device));
  std::vector<lapilli::Run> runs;
  for (std::int64_t i = 0; i < 8; ++i) {
    runs.push_back(context.submit({{"batch", 3}}, [&](std::size_t index, std::span<std::byte> elements) {
      EXPECT_EQ(index, 0U);
      const Tensor input = layers_input(3, i);
      ASSERT_EQ(elements.size(), input.bytes().size());
      std::ranges::copy(input.bytes(), elements.begin());
    }));
  }
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(floats(runs[static_cast<std::size_t>(i)].results()[0]), layers_values(layers_input(3, i)).y) << i;
  }
  const auto refuse = [](std::size_t, std::span<std::byte>) {
    throw Error(ErrorCode::invalid_argument, "no picture");
  };
  EXPECT_EQ(error_of([&] { (void)context.submit({{"batch", 3}}, refuse); }), "no picture");
  const std::array<Tensor, 1> next{layers_input(3, 9)};
  EXPECT_EQ(floats(context.run(next)[0]), layers_values(next[0]).y);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Context, writes_no_inputs_in_place_whose_elements_are_sizes) {
  const Device device = open_device();
  const auto nothing = [](std::size_t, std::span<std::byte>) {};
  Context shaped(Model::load(shaped_model, device)), found(Model::load(found_model, device));
  EXPECT_EQ(error_of([&] { (void)shaped.submit({{"rows", 2}, {"shape[0]", 4}, {"shape[1]", 8}}, nothing); }),
            "sizes in this model depend on elements of its inputs: give them as tensors");
  EXPECT_EQ(error_of([&] { (void)found.submit({}, nothing); }),
            "this model runs in parts: give its inputs as tensors");
}

TEST(Context, says_that_too_many_runs_are_under_way) {
  Context context(Model::load(layers_model, open_device()));
  const std::array<Tensor, 1> inputs{layers_input(1)};
  std::vector<lapilli::Run> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(context.submit(inputs));
  EXPECT_EQ(error_of([&] { (void)context.submit(inputs); }),
            "8 runs are under way; read the results of one before another is submitted");
  runs.pop_back();  // its results are not wanted any more
  EXPECT_EQ(floats(context.run(inputs)[0]), layers_values(inputs[0]).y);
}

TEST(Context, results_outlive_context_and_model) {
  const std::array<Tensor, 1> inputs{layers_input(2)};
  std::optional<lapilli::Run> run;
  {
    Context context(Model::load(layers_model, open_device()));
    run = context.submit(inputs);
  }
  while (!run->wait_for(std::chrono::milliseconds(1))) {
  }
  EXPECT_EQ(floats(run->results()[0]), layers_values(inputs[0]).y);
}

TEST(Context, writes_results_where_nobody_else_holds_them) {
  Context context(Model::load(layers_model, open_device()));
  std::array<Tensor, 1> inputs{layers_input(2, 1)}, outputs;
  context.run(inputs, outputs);
  const std::byte* const first = outputs[0].bytes().data();
  const std::vector<float> expected = layers_values(inputs[0]).y;
  EXPECT_EQ(floats(outputs[0]), expected);

  inputs[0] = layers_input(2, 2);
  context.run(inputs, outputs);
  EXPECT_EQ(outputs[0].bytes().data(), first);
  const Tensor held = outputs[0];
  inputs[0] = layers_input(2, 1);
  context.run(inputs, outputs);
  EXPECT_NE(outputs[0].bytes().data(), first);
  EXPECT_EQ(floats(held), layers_values(layers_input(2, 2)).y);
  EXPECT_EQ(floats(outputs[0]), expected);

  inputs[0] = layers_input(5, 4);
  context.run(inputs, outputs);
  EXPECT_EQ(outputs[0].shape(), (std::vector<std::int64_t>{5, 16}));
  EXPECT_EQ(floats(outputs[0]), layers_values(inputs[0]).y);
}

TEST(Context, keeps_values_that_are_fused) {
  const Device device = open_device();
  ModelOptions options;
  options.keep = {"hidden", "y", "product"};
  const Model model = Model::load(layers_model, device, options);
  ASSERT_EQ(model.outputs().size(), 3U);
  EXPECT_EQ(model.outputs()[1].name, "hidden");
  EXPECT_EQ(model.outputs()[1].shape, (std::vector<std::string>{"batch", "16"}));
  Context context(model);
  const std::map<std::string, Tensor> results = context.run({{"x", layers_input(3)}});
  const auto expected = layers_values(layers_input(3));
  EXPECT_EQ(floats(results.at("hidden")), expected.hidden);
  EXPECT_EQ(floats(results.at("y")), expected.y);
  std::vector<float> clipped = floats(results.at("product"));
  EXPECT_TRUE(std::ranges::any_of(clipped, [](float value) { return value < 0; }));
  for (float& value : clipped) value = std::max(value, 0.0F);
  EXPECT_EQ(clipped, expected.hidden);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Context, names_values_like_the_one_to_keep) {
  ModelOptions options;
  options.keep = {"hid"};
  EXPECT_EQ(error_of([&] { (void)Model::load(layers_model, open_device(), options); }),
            std::string(layers_model) + ": the graph has no value 'hid' to keep; there are hidden");
}

TEST(Context, prepares_sizes_before_they_run) {
  const Device device = open_device();
  const Model model = Model::load(layers_model, device);
  EXPECT_GT(model.plan({{"batch", 4}}).new_pipelines, 0U);
  Context context(model);
  context.prepare({{"batch", 4}});
  EXPECT_EQ(context.memory().plans, 1U);
  const std::uint64_t prepared = device.memory().in_use;
  EXPECT_EQ(model.plan({{"batch", 4}}).new_pipelines, 0U);
  EXPECT_EQ(model.plan({{"batch", 5}}).new_pipelines, 0U);
  const std::array<Tensor, 1> inputs{layers_input(4)};
  EXPECT_EQ(floats(context.run(inputs)[0]), layers_values(inputs[0]).y);
  EXPECT_EQ(device.memory().in_use, prepared);
}

TEST(Context, tells_what_a_run_in_parts_did) {
  const Device device = open_device();
  const Model model = Model::load(found_model, device);
  EXPECT_TRUE(model.runs_in_parts());
  Context context(model);
  Tensor x = Tensor::allocate(DType::float32, {5});
  std::ranges::copy(std::array{0.0F, 3.0F, 0.0F, -1.5F, 7.0F}, x.mutable_elements<float>().begin());
  const std::array<Tensor, 1> inputs{x};
  lapilli::Run run = context.submit(inputs);
  EXPECT_TRUE(run.done());
  EXPECT_EQ(floats(run.results()[0]), (std::vector<float>{6, -3, 14}));

  const PlanSummary plan = context.last_plan();
  EXPECT_EQ(plan.parts, 2U);
  EXPECT_GE(plan.dispatches, 2U);
  EXPECT_EQ(plan.dispatches + plan.barriers, plan.steps.size());
  EXPECT_EQ(context.memory().plans, 2U);
  EXPECT_EQ(context.profile().size(), plan.dispatches);
  EXPECT_EQ(context.repeat(3).size(), 3U);
  EXPECT_TRUE(context.gpu_nanoseconds().has_value());
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});

  const Model whole = Model::load(layers_model, device);
  EXPECT_FALSE(whole.runs_in_parts());
  Context other(whole);
  other.prepare({{"batch", 2}});
  EXPECT_EQ(other.last_plan().parts, 1U);
  EXPECT_EQ(other.last_plan().dispatches, whole.plan({{"batch", 2}}).dispatches);
}

}  // namespace
}  // namespace lapilli
