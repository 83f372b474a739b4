#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <latch>
#include <thread>

#include "api/test_models.h"
#include "lapilli/lapilli.h"

namespace lapilli {
namespace {

using testing::found_model;
using testing::network_model;
using testing::open_device;
using testing::patterned;

constexpr std::size_t thread_count = 4, run_count = 200;

/// A model, inputs of several sizes, and what one thread alone makes of them.
struct Work {
  Work(Model loaded, std::vector<Tensor> given) : model(std::move(loaded)), inputs(std::move(given)) {
    Context context(model);
    for (const Tensor& input : inputs) expected.push_back(context.run({&input, 1})[0]);
  }

  /// More sizes than a context keeps, so that it makes Executors again and again; some runs in a row of each.
  [[nodiscard]] std::size_t choice(std::size_t thread, std::size_t run) const {
    return (3 * thread + run / 8) % inputs.size();
  }

  [[nodiscard]] bool runs_right(Context& context, std::size_t thread, std::size_t run) const {
    const std::size_t chosen = choice(thread, run);
    const std::vector<Tensor> results = context.run({&inputs[chosen], 1});
    return results.size() == 1 && results[0].shape() == expected[chosen].shape() &&
           std::ranges::equal(results[0].bytes(), expected[chosen].bytes());
  }

  Model model;
  std::vector<Tensor> inputs, expected;
};

/// A small network of convolutions and a matrix product.
Work network(const Device& device, const ModelOptions& options = {}) {
  std::vector<Tensor> inputs;
  for (std::uint32_t batch = 1; batch <= 7; ++batch) inputs.push_back(patterned({batch, 3, 8, 8}, batch));
  return {Model::load(network_model, device, options), inputs};
}

/// A model whose sizes depend on its data, which is run in parts.
Work found(const Device& device) {
  std::vector<Tensor> inputs;
  for (std::uint32_t size = 100; size <= 500; size += 80) inputs.push_back(patterned({size}, size));
  return {Model::load(found_model, device), inputs};
}

/// Calls action(0), action(1), ... on a thread each, all at once: how often each of them says true.
std::vector<std::size_t> on_threads(std::size_t count, const std::function<std::size_t(std::size_t)>& action) {
  std::vector<std::size_t> results(count);
  std::latch start(static_cast<std::ptrdiff_t>(count));
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < count; ++thread) {
      threads.emplace_back([&, thread] {
        start.arrive_and_wait();
        results[thread] = action(thread);
      });
    }
  }
  return results;
}

const std::vector<std::size_t> all_right(thread_count, run_count);

TEST(Threads, of_one_model_get_what_one_thread_gets) {
  const Device device = open_device();
  const Work work = network(device);
  EXPECT_EQ(on_threads(thread_count,
                       [&](std::size_t thread) {
                         Context context(work.model);
                         std::size_t right = 0;
                         for (std::size_t run = 0; run < run_count; ++run)
                           right += work.runs_right(context, thread, run);
                         return right;
                       }),
            all_right);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Threads, of_two_models_get_what_one_thread_gets) {
  const Device device = open_device();
  const std::array<Work, 2> works{network(device), found(device)};
  EXPECT_EQ(on_threads(thread_count,
                       [&](std::size_t thread) {
                         Context context(works[thread % 2].model);
                         std::size_t right = 0;
                         for (std::size_t run = 0; run < run_count; ++run)
                           right += works[thread % 2].runs_right(context, thread, run);
                         return right;
                       }),
            all_right);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Threads, of_one_model_in_parts_get_what_one_thread_gets) {
  const Device device = open_device();
  const Work work = found(device);
  EXPECT_EQ(on_threads(thread_count,
                       [&](std::size_t thread) {
                         Context context(work.model);
                         std::size_t right = 0;
                         for (std::size_t run = 0; run < run_count; ++run)
                           right += work.runs_right(context, thread, run);
                         return right;
                       }),
            all_right);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

// Nobody has planned, uploaded or compiled anything before the threads begin.
TEST(Threads, begin_with_a_fresh_model_at_once) {
  const Device device = open_device();
  const Work work = network(device);
  for (std::size_t round = 0; round < 3; ++round) {
    const Model fresh = Model::load(network_model, device);
    EXPECT_EQ(on_threads(thread_count,
                         [&](std::size_t thread) {
                           Context context(fresh);
                           const bool described =
                               fresh.outputs().size() == 1 && fresh.plan({{"batch", 9}}).dispatches > 0;
                           return std::size_t{described && work.runs_right(context, thread, round * 8)};
                         }),
              std::vector<std::size_t>(thread_count, 1));
  }
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

// Two threads load, run and drop models of their own while two run one that stays, on the same device.
TEST(Threads, load_and_drop_models_while_others_run) {
  const Device device = open_device();
  const Work work = network(device);
  EXPECT_EQ(on_threads(thread_count,
                       [&](std::size_t thread) {
                         std::size_t right = 0;
                         Context context(work.model);
                         for (std::size_t run = 0; run < 20; ++run) {
                           if (thread % 2 == 0) context = Context(Model::load(network_model, device));
                           right += work.runs_right(context, thread, run);
                         }
                         return right;
                       }),
            std::vector<std::size_t>(thread_count, 20));
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

TEST(Threads, open_devices_of_their_own) {
  const Device device = open_device();
  const Work work = network(device);
  EXPECT_EQ(on_threads(2,
                       [&](std::size_t thread) {
                         const Device own = open_device();
                         Context context(Model::load(network_model, own));
                         const bool right = work.runs_right(context, thread, 0);
                         return std::size_t{right && own.validation_messages().empty()};
                       }),
            std::vector<std::size_t>(2, 1));
}

}  // namespace
}  // namespace lapilli
