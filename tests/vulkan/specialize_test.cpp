#include "vulkan/specialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

#include "kernels/kernel_table.h"

namespace lapilli {
namespace {

using Words = std::vector<std::uint32_t>;

// Numbers of the SPIR-V specification.
constexpr std::uint32_t op_name = 5, op_function = 54, op_function_end = 56, op_function_call = 57, op_phi = 245;
constexpr std::uint32_t op_loop_merge = 246, op_selection_merge = 247, op_label = 248, op_branch = 249;
constexpr std::uint32_t op_branch_conditional = 250, op_switch = 251;

std::vector<Words> instructions_of(const Words& spirv) {
  std::vector<Words> instructions;
  for (std::size_t at = 5; at < spirv.size(); at += spirv[at] >> 16U) {
    if (spirv[at] >> 16U == 0 || at + (spirv[at] >> 16U) > spirv.size()) {
      ADD_FAILURE() << "the module ends within an instruction";
      break;
    }
    instructions.emplace_back(spirv.begin() + static_cast<std::ptrdiff_t>(at),
                              spirv.begin() + static_cast<std::ptrdiff_t>(at + (spirv[at] >> 16U)));
    instructions.back()[0] &= 0xFFFFU;
  }
  return instructions;
}

std::uint32_t id_of_function(const KernelModule& module, const std::string& name) {
  for (const Words& words : instructions_of({module.spirv.begin(), module.spirv.end()})) {
    if (words[0] != op_name) continue;
    const std::string text(reinterpret_cast<const char*>(&words[2]));
    if (text.starts_with(name + "(")) return words[1];
  }
  ADD_FAILURE() << "no function " << name;
  return 0;
}

std::size_t calls_of(const Words& spirv, std::uint32_t function) {
  const std::vector<Words> all = instructions_of(spirv);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Words& words) {
    return words[0] == op_function_call && words[3] == function;
  }));
}

// Every label that is named and every function that is called is there, once.
void expect_whole(const Words& spirv, const std::string& what) {
  std::multiset<std::uint32_t> labels, functions;
  std::set<std::uint32_t> wanted_labels, wanted_functions;
  for (const Words& words : instructions_of(spirv)) {
    switch (words[0]) {
      case op_label: labels.insert(words[1]); break;
      case op_function: functions.insert(words[2]); break;
      case op_function_call: wanted_functions.insert(words[3]); break;
      case op_selection_merge:
      case op_branch: wanted_labels.insert(words[1]); break;
      case op_loop_merge: wanted_labels.insert({words[1], words[2]}); break;
      case op_branch_conditional: wanted_labels.insert({words[2], words[3]}); break;
      case op_switch:
        for (std::size_t i = 2; i < words.size(); i += 2) wanted_labels.insert(words[i]);
        break;
      case op_phi:
        for (std::size_t i = 4; i < words.size(); i += 2) wanted_labels.insert(words[i]);
        break;
      default: break;
    }
  }
  for (const std::uint32_t label : wanted_labels) EXPECT_EQ(labels.count(label), 1U) << what << " label " << label;
  for (const std::uint32_t id : wanted_functions) EXPECT_EQ(functions.count(id), 1U) << what << " function " << id;
  EXPECT_GE(functions.size(), 1U) << what;
}

TEST(Specialize, every_kernel_stays_whole_and_the_same_the_second_time) {
  std::mt19937 generator(1);
  for (const KernelModule& module : kernel_modules()) {
    for (int draw = 0; draw < 6; ++draw) {
      Words values(module.specialization_constants);
      for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(generator() % 5);
      const Words once = without_dead_branches(module.spirv, values);
      expect_whole(once, std::string(module.name));
      EXPECT_LT(once.size(), module.spirv.size()) << module.name;
      EXPECT_EQ(without_dead_branches(once, values), once) << module.name;
    }
  }
}

TEST(Specialize, keeps_the_steps_that_a_chain_has) {
  const KernelModule& module = *find_kernel("pointwise.narrow");
  const std::uint32_t run_step = id_of_function(module, "run_step"), load_3 = id_of_function(module, "load_3");
  EXPECT_EQ(calls_of({module.spirv.begin(), module.spirv.end()}, run_step), 16U);
  Words values(module.specialization_constants, 1);
  constexpr std::size_t inputs = 4, chain_length = 8;  // constant_id in pointwise.comp
  for (const std::uint32_t steps : {0U, 1U, 5U, 16U}) {
    values[chain_length] = steps;
    EXPECT_EQ(calls_of(without_dead_branches(module.spirv, values), run_step), steps);
  }
  values[inputs] = 3;
  EXPECT_EQ(calls_of(without_dead_branches(module.spirv, values), load_3), 0U);
  values[inputs] = 4;
  EXPECT_EQ(calls_of(without_dead_branches(module.spirv, values), load_3), 1U);
  // Without values the defaults hold: no step.
  EXPECT_EQ(calls_of(without_dead_branches(module.spirv, {}), run_step), 0U);
}

Words instruction(std::uint32_t operation, const Words& operands) {
  Words words{static_cast<std::uint32_t>(operands.size() + 1) << 16U | operation};
  words.insert(words.end(), operands.begin(), operands.end());
  return words;
}

// main() with `if (constant 0 > 2) block 23 else block 24`, whose results meet in a phi in block 25.
Words module_with_a_phi() {
  Words spirv{0x07230203, 0x10500, 0, 40, 0};
  for (const Words& words : {
           instruction(15, {5, 10, 0x6E69616D, 0}),  // OpEntryPoint GLCompute %10 "main"
           instruction(71, {11, 1, 0}),              // OpDecorate %11 SpecId 0
           instruction(71, {30, 42}),                // OpDecorate %30 NoContraction
           instruction(71, {31, 42}),                // OpDecorate %31 NoContraction
           instruction(50, {1, 11, 2}),              // %11 = OpSpecConstant %1 2
           instruction(43, {1, 12, 2}),              // %12 = OpConstant %1 2
           instruction(52, {2, 13, 172, 11, 12}),    // %13 = OpSpecConstantOp %2 UGreaterThan %11 %12
           instruction(op_function, {3, 10, 0, 4}),
           instruction(op_label, {22}),
           instruction(op_selection_merge, {25, 0}),
           instruction(op_branch_conditional, {13, 23, 24}),
           instruction(op_label, {23}),
           instruction(129, {5, 30, 6, 7}),  // OpFAdd
           instruction(op_branch, {25}),
           instruction(op_label, {24}),
           instruction(129, {5, 31, 6, 7}),
           instruction(op_branch, {25}),
           instruction(op_label, {25}),
           instruction(op_phi, {5, 32, 30, 23, 31, 24}),
           instruction(253, {}),  // OpReturn
           instruction(op_function_end, {}),
       }) {
    spirv.insert(spirv.end(), words.begin(), words.end());
  }
  return spirv;
}

TEST(Specialize, keeps_the_branch_that_is_taken_with_its_phi_and_decorations) {
  for (const std::uint32_t value : {3U, 2U}) {
    const std::vector<Words> left = instructions_of(without_dead_branches(module_with_a_phi(), std::array{value}));
    const std::uint32_t taken = value > 2 ? 23 : 24, result = value > 2 ? 30 : 31;
    EXPECT_TRUE(std::ranges::contains(left, Words{op_phi, 5, 32, result, taken}));
    EXPECT_TRUE(std::ranges::contains(left, Words{op_branch, taken}));
    EXPECT_TRUE(std::ranges::contains(left, Words{op_label, taken}));
    EXPECT_FALSE(std::ranges::contains(left, Words{op_label, 47 - taken}));
    EXPECT_TRUE(std::ranges::contains(left, Words{71, result, 42}));
    EXPECT_FALSE(std::ranges::contains(left, Words{71, 61 - result, 42}));
    EXPECT_FALSE(std::ranges::contains(left, Words{op_selection_merge, 25, 0}));
  }
}

}  // namespace
}  // namespace lapilli
