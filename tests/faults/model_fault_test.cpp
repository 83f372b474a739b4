// Models that are cut, or have another number where one stood: an Error or a plan, and never anything else. What a
// damaged model is planned as is nobody's business here; the Program's own judge accepts it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lapilli/error.h"
#include "support/plan_anything.h"
#include "support/wire_tree.h"
#include "vulkan/device_plan.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(bytes.empty()) << path;
  return bytes;
}

struct Tally {
  int refused = 0, read = 0, planned = 0;
};

class DamagedModel : public testing::TestWithParam<const char*> {
 protected:
  void plan(std::string_view model, const std::string& what) {
    try {
      // A buffer of its own, so that the address sanitizer sees reads past its end.
      const std::vector<char> copy(model.begin(), model.end());
      switch (plan_anything(std::as_bytes(std::span(copy)), traits, 2, true)) {
        case Reached::refused: ++tally.refused; break;
        case Reached::read: ++tally.read; break;
        case Reached::planned: ++tally.planned; break;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
  }

  const std::string bytes = read_file(std::filesystem::path(FAULT_TEST_DATA) / GetParam() / "model.onnx");
  const DeviceTraits traits = make_device_plan(recorded_snapshot("llvmpipe_mesa_26_1"), {}).traits;
  Tally tally;
};

TEST_P(DamagedModel, WholeIsPlanned) {
  plan(bytes, "whole");
  EXPECT_EQ(tally.planned, 1);
}

TEST_P(DamagedModel, CutAtEvery64thByte) {
  for (std::size_t size = 0; size < bytes.size(); size += 64) {
    plan(std::string_view(bytes).substr(0, size), std::to_string(size));
  }
  EXPECT_GT(tally.refused, 0);
}

TEST_P(DamagedModel, EveryNumberIsAnother) {
  std::vector<WireField> fields = parse_wire(bytes);
  ASSERT_EQ(write_wire(fields), bytes);
  std::vector<WireField*> numbers;
  for_each_field(fields, [&](WireField& field) {
    if (field.kind == WireField::Kind::number) numbers.push_back(&field);
  });
  EXPECT_GE(numbers.size(), 8U);
  for (std::size_t i = 0; i < numbers.size() && i < 200; ++i) {
    const std::uint64_t before = numbers[i]->value;
    for (const std::uint64_t value : telling_numbers(before)) {
      numbers[i]->value = value;
      plan(write_wire(fields), std::format("number {} of the file, which is {}, as {}", i, before, value));
    }
    numbers[i]->value = before;
  }
  EXPECT_GT(tally.refused, 0);
}

// Dimensions and attributes may be packed: numbers in bytes.
TEST_P(DamagedModel, EveryByteIsAnother) {
  std::string damaged = bytes;
  const std::size_t most = std::min<std::size_t>(bytes.size(), 1500);
  for (std::size_t at = 0; at < most; ++at) {
    for (const unsigned change : {0x01U, 0x80U, 0xFFU}) {
      damaged[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ change);
      plan(damaged, std::format("byte {} with {}", at, change));
    }
    damaged[at] = bytes[at];
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, DamagedModel,
                         testing::Values("node/test_conv_with_strides_padding", "node/test_gemm_all_attributes",
                                         "node/test_concat_3d_axis_1", "node/test_maxpool_2d_dilations",
                                         "node/test_reduce_sum_do_not_keepdims_example", "node/test_gather_1",
                                         "node/test_lstm_defaults", "node/test_resize_upsample_sizes_nearest",
                                         "node/test_slice", "node/test_transpose_all_permutations_4",
                                         "node/test_softmax_axis_1", "node/test_convtranspose_pads",
                                         "node/test_layer_normalization_2d_axis1_expanded",
                                         "pytorch-converted/test_Conv2d_strided", "simple/test_shrink"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace_if(name, [](char c) { return c == '/' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
