// Handles may be dropped in any order: what is still needed stays.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "api/test_models.h"
#include "lapilli/lapilli.h"

namespace lapilli {
namespace {

using testing::floats;
using testing::found_model;
using testing::network_model;
using testing::open_device;
using testing::patterned;

// The models of make_data.py: a network, which is one Program, and one that is run in parts.
class Lifetime : public ::testing::TestWithParam<const char*> {
 protected:
  static Tensor input() {
    return std::string(GetParam()) == network_model ? patterned({2, 3, 8, 8}, 5) : patterned({300}, 5);
  }

  static Model load(const Device& device) { return Model::load(GetParam(), device); }

  static std::vector<float> run(Context& context) { return floats(context.run(std::vector{input()})[0]); }

  static std::vector<float> expected() {
    const Device device = open_device();
    const Model model = load(device);
    Context context(model);
    return run(context);
  }
};

TEST_P(Lifetime, contexts_outlive_model_and_device) {
  std::optional<Device> device(open_device());
  std::optional<Model> model(load(*device));
  Context used(*model), unused(*model);
  const std::vector<float> before = run(used);
  device.reset();
  EXPECT_EQ(run(used), before);
  model.reset();
  EXPECT_EQ(run(used), before);
  EXPECT_EQ(run(unused), before);
}

TEST_P(Lifetime, models_outlive_the_device) {
  std::optional<Device> device(open_device());
  const Model model = load(*device);
  device.reset();
  EXPECT_FALSE(model.device().name().empty());
  Context context(model);
  EXPECT_EQ(run(context), expected());
}

TEST_P(Lifetime, results_outlive_everything) {
  Tensor result;
  {
    const Device device = open_device();
    Context context(load(device));
    result = context.run(std::vector{input()})[0];
  }
  EXPECT_EQ(floats(result), expected());
}

TEST_P(Lifetime, results_stay_as_they_are_when_the_context_runs_again) {
  const Device device = open_device();
  Context context(load(device));
  const Tensor result = context.run(std::vector{input()})[0];
  const std::vector<float> before = floats(result);
  std::vector<std::int64_t> shape = input().shape();
  (void)context.run(std::vector{patterned(shape, 6)});
  shape[0] += 3;
  (void)context.run(std::vector{patterned(shape, 7)});
  EXPECT_EQ(floats(result), before);
}

TEST_P(Lifetime, contexts_move_and_replace_each_other) {
  const Device device = open_device();
  const Model model = load(device);
  Context first(model), second(model);
  const std::vector<float> right = run(first);
  EXPECT_EQ(run(second), right);
  first = std::move(second);  // what `first` had goes while its model is in use
  EXPECT_EQ(run(first), right);
  const Context moved(std::move(first));
  first = Context(load(device));
  EXPECT_EQ(run(first), right);
}

TEST_P(Lifetime, the_last_handle_may_go_on_another_thread) {
  const std::vector<float> right = expected();
  auto context = std::make_unique<Context>(load(open_device()));
  EXPECT_EQ(run(*context), right);
  std::jthread([taken = std::move(context), &right]() mutable {
    EXPECT_EQ(run(*taken), right);
    taken.reset();
  }).join();
}

TEST_P(Lifetime, devices_of_one_process_come_and_go_in_any_order) {
  std::optional<Device> first(open_device());
  const Device second = open_device();
  std::optional<Context> on_first(load(*first));
  Context on_second(load(second));
  const std::vector<float> right = run(*on_first);
  first.reset();
  EXPECT_EQ(run(on_second), right);
  EXPECT_EQ(run(*on_first), right);
  on_first.reset();
  EXPECT_EQ(run(on_second), right);
}

TEST_P(Lifetime, contexts_go_on_after_an_error) {
  const Device device = open_device();
  Context context(load(device));
  const std::vector<float> right = run(context);
  EXPECT_THROW((void)context.run(std::vector<Tensor>{}), Error);
  EXPECT_THROW((void)context.run(std::vector{Tensor()}), Error);
  EXPECT_THROW((void)context.run(std::vector{patterned({2, 2, 2, 2, 2}, 1)}), Error);
  EXPECT_EQ(run(context), right);
}

TEST_P(Lifetime, the_file_may_be_removed_once_the_model_is_loaded) {
  const std::filesystem::path copy = std::filesystem::path(::testing::TempDir()) /
                                     ("lapilli_lifetime_" + std::filesystem::path(GetParam()).filename().string());
  std::filesystem::copy_file(GetParam(), copy, std::filesystem::copy_options::overwrite_existing);
  const Device device = open_device();
  const Model model = Model::load(copy, device);
  std::filesystem::remove(copy);
  Context context(model);
  EXPECT_EQ(run(context), expected());
}

INSTANTIATE_TEST_SUITE_P(Models, Lifetime, ::testing::Values(network_model, found_model),
                         [](const auto& tested) { return std::filesystem::path(tested.param).stem().string(); });

TEST(DeviceLifetime, options_are_only_read) {
  auto options = std::make_unique<DeviceOptions>();
  options->selector = "llvmpipe with a name that is too long to lie inside of a string";
  EXPECT_THROW((void)Device::open(*options), Error);
  options->selector = "llvmpipe";
  options->pipeline_cache_folder = std::filesystem::path(::testing::TempDir()) / "lapilli_lifetime_cache";
  const std::filesystem::path folder = options->pipeline_cache_folder;
  {
    Device device = Device::open(*options);
    options.reset();
    const Device copy = device;
    Context context(Model::load(network_model, device));
    device = open_device();  // the first stays with its copy
    EXPECT_FALSE(copy.name().empty());
    (void)context.run(std::vector{patterned({1, 3, 8, 8}, 1)});
    EXPECT_TRUE(copy.validation_messages().empty());
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(DeviceLifetime, what_a_model_says_stays_while_any_handle_does) {
  std::optional<Model> model(Model::load(network_model, open_device()));
  const Model copy = *model;
  const std::vector<PortDescription>& inputs = model->inputs();
  const std::vector<PortDescription>& outputs = model->outputs();
  model.reset();
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(outputs[0].name, "y");
  EXPECT_EQ(&copy.inputs(), &inputs);
}

}  // namespace
}  // namespace lapilli
