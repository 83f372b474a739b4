// More external data than 31 bits can address, and offsets past 32 bits.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <vector>

#include "api/test_models.h"
#include "lapilli/lapilli.h"

namespace lapilli {
namespace {

using testing::device_options;
using testing::floats;
using testing::huge_model;
using testing::resident_kib;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr std::int64_t columns = 1024, wide_columns = 131072;
// What make_data.py says of huge.bin.
constexpr std::uint64_t table_bytes = 128 * mib, weight_begin = 4096 * mib + 4096, weight_bytes = 512 * mib;
constexpr std::uint64_t used_bytes = 16 * table_bytes + weight_bytes;

float table_element(std::int64_t table, std::int64_t row, std::int64_t column) {
  return static_cast<float>((table * 7 + row * 5 + column * 3) % 101 - 50);
}

float weight_element(std::int64_t row, std::int64_t column) {
  return static_cast<float>((row * 11 + column * 13) % 7 - 3);
}

// Rows that hold something; all else is zero, and takes no room on the disk.
constexpr std::array<std::int64_t, 2> table_rows{1, 32767}, weight_rows{3, 1023};

class LargeData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    std::filesystem::copy_file(huge_model, folder_ / "huge.onnx", std::filesystem::copy_options::overwrite_existing);
    std::ofstream file(folder_ / "huge.bin", std::ios::binary);
    std::vector<float> elements;
    const auto write = [&](std::uint64_t offset) {
      file.seekp(static_cast<std::streamoff>(offset));
      file.write(reinterpret_cast<const char*>(elements.data()), static_cast<std::streamsize>(4 * elements.size()));
      elements.clear();
    };
    for (std::int64_t table = 0; table < 16; ++table) {
      for (const std::int64_t row : table_rows) {
        for (std::int64_t column = 0; column < columns; ++column)
          elements.push_back(table_element(table, row, column));
        write(static_cast<std::uint64_t>(table) * table_bytes + static_cast<std::uint64_t>(4 * row * columns));
      }
    }
    for (const std::int64_t row : weight_rows) {
      for (std::int64_t column = 0; column < wide_columns; ++column) elements.push_back(weight_element(row, column));
      write(weight_begin + static_cast<std::uint64_t>(4 * row * wide_columns));
    }
    file.close();
    EXPECT_EQ(std::filesystem::file_size(folder_ / "huge.bin"), weight_begin + weight_bytes);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "lapilli_large_data";
};

TEST_F(LargeData, is_read_to_its_end) {
  const std::uint64_t before = resident_kib("VmRSS");
  const Device device = Device::open(device_options());
  Context context(Model::load(folder_ / "huge.onnx", device));
  Tensor x = Tensor::allocate(DType::float32, {1, columns});
  for (std::size_t i = 0; i < columns; ++i) x.mutable_elements<float>()[i] = static_cast<float>(i % 9) - 4;
  const std::array<Tensor, 2> inputs{Tensor::of<std::int64_t>(DType::int64, {2}, table_rows), x};
  const std::vector<Tensor> outputs = context.run(inputs);

  std::vector<float> y, z;
  for (const std::int64_t row : table_rows) {
    for (std::int64_t column = 0; column < columns; ++column) {
      float& sum = y.emplace_back();
      for (std::int64_t table = 0; table < 16; ++table) sum += table_element(table, row, column);
    }
  }
  for (std::int64_t column = 0; column < wide_columns; ++column) {
    float& sum = z.emplace_back();
    for (const std::int64_t row : weight_rows)
      sum += x.elements<float>()[static_cast<std::size_t>(row)] * weight_element(row, column);
  }
  EXPECT_EQ(floats(outputs.at(0)), y);
  EXPECT_EQ(floats(outputs.at(1)), z);

  // llvmpipe's memory is the host's.
  const std::uint64_t on_device = device.memory().in_use, peak = resident_kib("VmHWM") << 10U;
  std::cout << "on the device " << on_device / mib << " MiB, resident at most " << peak / mib << " MiB, before "
            << (before >> 10U) << " MiB\n";
  EXPECT_GE(on_device, used_bytes);
  EXPECT_LT(on_device, used_bytes + used_bytes / 10);
  EXPECT_LT(peak - on_device, used_bytes * 3 / 10);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

}  // namespace
}  // namespace lapilli
