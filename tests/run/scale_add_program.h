#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "program/program.h"
#include "run/executor.h"
#include "vulkan/device.h"

namespace lapilli {

/// A Program made by hand: t = 2 * x + w; y = 2 * t + w + 3, with w packed as float32 from float32.
inline Program scale_add_program(const DeviceTraits& traits, std::span<const float> weights,
                                 bool with_barrier = true) {
  const auto count = static_cast<std::int64_t>(weights.size());
  const auto bytes = static_cast<std::uint64_t>(4 * count);
  const std::uint64_t alignment = traits.storage_alignment;
  Program program;
  program.segments = {{SegmentKind::input, bytes},
                      {SegmentKind::constant, bytes},
                      {SegmentKind::arena, alignment + bytes},
                      {SegmentKind::output, bytes},
                      {SegmentKind::parameters, 16}};
  program.constants = {
      {1, Tensor::of<float>(DType::float32, {count}, weights), {DType::float32, {count}, {count}, {1}, 0}}};
  program.parameters.resize(16);
  const float scale = 2.0F;
  std::memcpy(program.parameters.data(), &scale, 4);
  program.pipelines = {{"scale_add", {64, 0}, 0}, {"scale_add", {64, 3}, 0}};
  const auto groups = static_cast<std::uint32_t>((count + 63) / 64);
  const auto pushed = static_cast<std::uint32_t>(count);
  program.steps.emplace_back(Dispatch{0,
                                      {{0, 0, bytes, Access::read},
                                       {1, 0, bytes, Access::read},
                                       {2, alignment, bytes, Access::write},
                                       {4, 0, 16, Access::read}},
                                      {pushed},
                                      {groups, 1, 1},
                                      0});
  if (with_barrier) program.steps.emplace_back(Barrier{});
  program.steps.emplace_back(Dispatch{1,
                                      {{2, alignment, bytes, Access::read},
                                       {1, 0, bytes, Access::read},
                                       {3, 0, bytes, Access::write},
                                       {4, 0, 16, Access::read}},
                                      {pushed},
                                      {groups, 1, 1},
                                      1});
  program.inputs = {{"x", DType::float32, {count}, 0}};
  program.outputs = {{"y", DType::float32, {count}, 3}};
  program.origins = {"first", "second"};
  return program;
}

/// One run of a Program with one float32 input and one float32 output.
inline std::vector<float> run_floats(Executor& executor, std::span<const float> input, std::size_t output_count) {
  std::vector<float> output(output_count);
  const std::array inputs{std::as_bytes(input)};
  const std::array outputs{std::as_writable_bytes(std::span(output))};
  executor.run(inputs, outputs);
  return output;
}

}  // namespace lapilli
