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
Work network(const Device& device) {
  std::vector<Tensor> inputs;
  for (std::uint32_t batch = 1; batch <= 7; ++batch) inputs.push_back(patterned({batch, 3, 8, 8}, batch));
  return {Model::load(network_model, device), inputs};
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

class Threads : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(device_.validation_messages(), std::vector<std::string>{}); }

  /// On threads, each with a context of its own for work(thread): all runs are right.
  static void expect_right_runs(const std::function<const Work&(std::size_t)>& work) {
    const auto right_runs = [&](std::size_t thread) {
      Context context(work(thread).model);
      std::size_t right = 0;
      for (std::size_t run = 0; run < run_count; ++run) right += work(thread).runs_right(context, thread, run);
      return right;
    };
    EXPECT_EQ(on_threads(thread_count, right_runs), std::vector<std::size_t>(thread_count, run_count));
  }

  Device device_ = open_device();
};

TEST_F(Threads, of_one_model_get_what_one_thread_gets) {
  const Work work = network(device_);
  expect_right_runs([&](std::size_t) -> const Work& { return work; });
}

TEST_F(Threads, of_two_models_get_what_one_thread_gets) {
  const std::array<Work, 2> works{network(device_), found(device_)};
  expect_right_runs([&](std::size_t thread) -> const Work& { return works[thread % 2]; });
}

TEST_F(Threads, of_one_model_in_parts_get_what_one_thread_gets) {
  const Work work = found(device_);
  expect_right_runs([&](std::size_t) -> const Work& { return work; });
}

// Nobody has planned, uploaded or compiled anything before the threads begin.
TEST_F(Threads, begin_with_a_fresh_model_at_once) {
  const Work work = network(device_);
  for (std::size_t round = 0; round < 3; ++round) {
    const Model fresh = Model::load(network_model, device_);
    const auto describe_and_run = [&](std::size_t thread) {
      Context context(fresh);
      const bool described = fresh.outputs().size() == 1 && fresh.plan({{"batch", 9}}).dispatches > 0;
      return std::size_t{described && work.runs_right(context, thread, round * 8)};
    };
    EXPECT_EQ(on_threads(thread_count, describe_and_run), std::vector<std::size_t>(thread_count, 1));
  }
}

// Two threads load, run and drop models of their own while two run one that stays, on the same device.
TEST_F(Threads, load_and_drop_models_while_others_run) {
  const Work work = network(device_);
  const auto run_or_load = [&](std::size_t thread) {
    std::size_t right = 0;
    Context context(work.model);
    for (std::size_t run = 0; run < 20; ++run) {
      if (thread % 2 == 0) context = Context(Model::load(network_model, device_));
      right += work.runs_right(context, thread, run);
    }
    return right;
  };
  EXPECT_EQ(on_threads(thread_count, run_or_load), std::vector<std::size_t>(thread_count, 20));
}

TEST_F(Threads, open_devices_of_their_own) {
  const Work work = network(device_);
  const auto open_and_run = [&](std::size_t thread) {
    const Device own = open_device();
    Context context(Model::load(network_model, own));
    const bool right = work.runs_right(context, thread, 0);
    return std::size_t{right && own.validation_messages().empty()};
  };
  EXPECT_EQ(on_threads(2, open_and_run), std::vector<std::size_t>(2, 1));
}

}  // namespace
}  // namespace lapilli
