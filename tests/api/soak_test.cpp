// Sizes come and go by the hundred: memory ends on a plateau.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <format>
#include <iostream>
#include <random>
#include <vector>

#include "api/test_models.h"
#include "lapilli/lapilli.h"

namespace lapilli {
namespace {

using testing::device_options;
using testing::floats;
using testing::found_model;
using testing::layers_input;
using testing::layers_model;
using testing::layers_values;
using testing::network_model;
using testing::patterned;
using testing::resident_kib;

struct Use {
  std::uint64_t resident = 0, in_use = 0, reserved = 0;  // bytes
};

// The most of one kind from one sample on to before another.
std::uint64_t most(const std::vector<Use>& curve, std::uint64_t Use::* kind, std::size_t begin, std::size_t end) {
  std::uint64_t result = 0;
  for (std::size_t i = begin; i < end; ++i) result = std::max(result, curve[i].*kind);
  return result;
}

TEST(Soak, of_500_random_sizes_ends_on_a_plateau) {
  DeviceOptions options = device_options();
  options.validation = false;  // which keeps records of its own
  const Device device = Device::open(options);
  const Model layers_loaded = Model::load(layers_model, device), network_loaded = Model::load(network_model, device),
              found_loaded = Model::load(found_model, device);
  Context layers(layers_loaded), network(network_loaded), found(found_loaded);
  std::mt19937 random(1);
  std::vector<Use> curve;
  for (int i = 0; i < 500; ++i) {
    const std::array<Tensor, 1> rows{layers_input(1 + static_cast<std::int64_t>(random() % 2000))};
    EXPECT_EQ(floats(layers.run(rows)[0]), layers_values(rows[0]).y) << i;
    (void)network.run(std::array{patterned({1 + static_cast<std::int64_t>(random() % 300), 3, 8, 8}, 1)});
    (void)found.run(std::array{patterned({1 + static_cast<std::int64_t>(random() % 100000)}, 1)});
    if (i % 50 != 49) continue;
    const MemoryUse memory = device.memory();
    const Use& use = curve.emplace_back(resident_kib("VmRSS") << 10U, memory.in_use, memory.reserved);
    std::cout << std::format("{:3} sizes: resident {:6.1f} MiB, in use {:5.1f} MiB, reserved {:5.1f} MiB\n", i + 1,
                             static_cast<double>(use.resident) / 1048576, static_cast<double>(use.in_use) / 1048576,
                             static_cast<double>(use.reserved) / 1048576);
  }
  // What the first half of the sizes needed is enough for the second.
  ASSERT_EQ(curve.size(), 10U);
  EXPECT_LE(most(curve, &Use::resident, 5, 10), most(curve, &Use::resident, 0, 5) + (4U << 20U));
  EXPECT_LE(most(curve, &Use::in_use, 5, 10), most(curve, &Use::in_use, 0, 5) + (8U << 20U));
  EXPECT_LE(most(curve, &Use::reserved, 5, 10), most(curve, &Use::reserved, 0, 5) + (8U << 20U));
  for (Context* context : {&layers, &network, &found}) context->trim();
  EXPECT_EQ(device.memory().in_use,
            layers_loaded.weight_bytes() + network_loaded.weight_bytes() + found_loaded.weight_bytes());
}

}  // namespace
}  // namespace lapilli
