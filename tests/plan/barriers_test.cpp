#include "plan/barriers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lapilli/error.h"
#include "program/verify.h"

namespace lapilli {
namespace {

using enum Access;

Dispatch dispatch(std::vector<Binding> bindings) {
  Dispatch result;
  result.bindings = std::move(bindings);
  return result;
}

// "dd|d" for two dispatches, a barrier and one more.
std::string text_of(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += std::holds_alternative<Barrier>(step) ? '|' : 'd';
  return text;
}

std::string order_of(std::vector<Dispatch> dispatches) { return text_of(insert_barriers(std::move(dispatches))); }

// A Program of these steps over segments of the arena that are large enough.
Program program_of(std::vector<Step> steps) {
  Program program;
  program.segments.assign(4, {SegmentKind::arena, 1 << 20});
  program.pipelines.emplace_back();
  program.origins.emplace_back("node");
  program.steps = std::move(steps);
  return program;
}

DeviceTraits traits() {
  DeviceTraits traits;
  traits.storage_alignment = 4;
  return traits;
}

// Every barrier is needed: without it the verifier objects.
void expect_all_needed(const Program& program) {
  verify(program, traits());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!std::holds_alternative<Barrier>(program.steps[i])) continue;
    Program without = program;
    without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW(verify(without, traits()), Error) << "barrier " << i;
  }
}

TEST(Barriers, stand_between_writing_and_reading) {
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, write}}), dispatch({{0, 0, 64, read}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, read}}), dispatch({{0, 0, 64, write}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, write}}), dispatch({{0, 0, 64, write}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, read_write}}), dispatch({{0, 0, 64, read}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, read}}), dispatch({{0, 0, 64, read_write}})}), "d|d");
}

TEST(Barriers, do_not_stand_where_nothing_is_shared) {
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, read}}), dispatch({{0, 0, 64, read}})}), "dd");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, write}}), dispatch({{0, 64, 64, read}})}), "dd");
  EXPECT_EQ(order_of({dispatch({{0, 64, 64, write}}), dispatch({{0, 0, 64, write}})}), "dd");
  EXPECT_EQ(order_of({dispatch({{0, 0, 64, write}}), dispatch({{1, 0, 64, read}})}), "dd");
  EXPECT_EQ(order_of({}), "");
}

TEST(Barriers, see_the_last_shared_byte) {
  EXPECT_EQ(order_of({dispatch({{0, 0, 65, write}}), dispatch({{0, 64, 64, read}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 64, 64, write}}), dispatch({{0, 0, 65, read}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 0, 200, read}}), dispatch({{0, 96, 4, write}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({{0, 96, 4, read}}), dispatch({{0, 0, 200, write}})}), "d|d");
}

TEST(Barriers, serve_all_that_was_before) {
  const Dispatch first = dispatch({{0, 0, 64, write}}), second = dispatch({{0, 64, 64, write}});
  const Dispatch third = dispatch({{0, 0, 64, read}, {0, 128, 64, write}});
  const Dispatch fourth = dispatch({{0, 64, 64, read}, {0, 192, 64, write}});
  const Dispatch last = dispatch({{0, 128, 128, read}, {0, 0, 64, write}});
  EXPECT_EQ(order_of({first, second, third, fourth, last}), "dd|dd|d");
  // What lay between is not forgotten: the reader stands behind an unrelated dispatch.
  EXPECT_EQ(order_of({first, dispatch({{1, 0, 64, write}}), third}), "dd|d");
}

// Two columns of a tensor with rows of 32 bytes.
TEST(Barriers, do_not_stand_between_parts_of_one_tensor) {
  const Binding left{0, 0, 256, write, {0, 12, 32}}, right{0, 0, 256, write, {12, 20, 32}};
  const Binding both{0, 0, 256, write, {8, 8, 32}}, whole{0, 0, 256, read};
  EXPECT_EQ(order_of({dispatch({left}), dispatch({right})}), "dd");
  EXPECT_EQ(order_of({dispatch({left}), dispatch({both})}), "d|d");
  EXPECT_EQ(order_of({dispatch({right}), dispatch({both})}), "d|d");
  EXPECT_EQ(order_of({dispatch({left}), dispatch({right}), dispatch({whole})}), "dd|d");
  EXPECT_EQ(order_of({dispatch({whole}), dispatch({right})}), "d|d");
  // Stripes of another tensor, as it was before or will be: they go by the range.
  EXPECT_EQ(order_of({dispatch({left}), dispatch({{0, 128, 256, write, {12, 20, 32}}})}), "d|d");
  EXPECT_EQ(order_of({dispatch({left}), dispatch({{0, 256, 256, write, {0, 12, 32}}})}), "dd");
  EXPECT_EQ(order_of({dispatch({left}), dispatch({{0, 0, 256, write, {12, 4, 16}}})}), "d|d");
}

std::vector<bool> touched_bytes(const Binding& binding) {
  std::vector<bool> touched(512, false);
  for (std::uint64_t byte = 0; byte < binding.size; ++byte) {
    const Stripes& stripes = binding.touched;
    const std::uint64_t row = stripes.run == 0 ? 0 : byte % stripes.pitch;
    const bool inside = stripes.run == 0 || (row >= stripes.begin && row < stripes.begin + stripes.run);
    const bool whole_row = stripes.run == 0 || byte / stripes.pitch < binding.size / stripes.pitch;
    touched[binding.offset + byte] = inside && whole_row;
  }
  return touched;
}

// Byte by byte.
TEST(Verifier, sees_stripes_that_meet_and_no_others) {
  std::mt19937 generator(5);
  const auto below = [&](std::uint64_t bound) { return generator() % bound; };
  const auto random_binding = [&] {
    Binding binding{0, 4 * below(32), 4 * (1 + below(40)), write};
    if (below(4) != 0) {
      const std::uint64_t pitch = 1 + below(binding.size), run = 1 + below(pitch);
      binding.touched = {below(pitch - run + 1), run, pitch};
    }
    return binding;
  };
  std::size_t met = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Binding left = random_binding(), right = random_binding();
    const std::vector<bool> a = touched_bytes(left), b = touched_bytes(right);
    bool meet = false;
    for (std::size_t byte = 0; byte < a.size(); ++byte) meet = meet || (a[byte] && b[byte]);
    const Program program = program_of({dispatch({left}), dispatch({right})});
    EXPECT_EQ(!find_hazards(program).empty(), meet) << "trial " << trial;
    // The planner may put one too many, but none too few.
    const std::string order = order_of({dispatch({left}), dispatch({right})});
    if (meet) {
      EXPECT_EQ(order, "d|d") << "trial " << trial;
    }
    met += meet ? 1 : 0;
  }
  EXPECT_GT(met, 500U);
  EXPECT_LT(met, 2500U);
}

TEST(Verifier, wants_each_barrier_of_random_programs) {
  std::mt19937 generator(3);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(generator() % bound); };
  std::size_t barriers = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Dispatch> dispatches(2 + below(12));
    for (Dispatch& each : dispatches) {
      for (std::uint32_t i = 0; i < 1 + below(3); ++i) {
        each.bindings.push_back({below(4), std::uint64_t{4} * below(64), 4 + std::uint64_t{4} * below(16),
                                 static_cast<Access>(below(3))});
      }
    }
    const Program program = program_of(insert_barriers(dispatches));
    EXPECT_TRUE(find_hazards(program).empty());
    expect_all_needed(program);
    barriers += static_cast<std::size_t>(std::ranges::count(text_of(program.steps), '|'));
  }
  EXPECT_GT(barriers, 200U);
}

TEST(Verifier, names_both_steps_and_the_bytes) {
  const Program program = program_of({dispatch({{2, 0, 64, write}}), dispatch({{2, 32, 64, read}})});
  const std::vector<Hazard> hazards = find_hazards(program);
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards[0].earlier, 0U);
  EXPECT_EQ(hazards[0].later, 1U);
  EXPECT_EQ(hazards[0].segment, 2U);
  EXPECT_EQ(hazards[0].begin, 32U);
  EXPECT_EQ(hazards[0].end, 64U);
}

TEST(Verifier, objects_to_what_breaks_a_rule) {
  const Program good = program_of({dispatch({{0, 0, 64, read}, {1, 0, 64, write}})});
  EXPECT_NO_THROW(verify(good, traits()));
  const auto expect_refused = [&](const char* what, auto&& spoil) {
    Program program = good;
    spoil(program, std::get<Dispatch>(program.steps[0]));
    EXPECT_THROW(verify(program, traits()), Error) << what;
  };
  expect_refused("segment", [](Program&, Dispatch& step) { step.bindings[0].segment = 4; });
  expect_refused("end", [](Program&, Dispatch& step) { step.bindings[0].offset = (1 << 20) - 60; });
  expect_refused("size 0", [](Program&, Dispatch& step) { step.bindings[0].size = 0; });
  expect_refused("alignment", [](Program&, Dispatch& step) { step.bindings[0].offset = 2; });
  expect_refused("pipeline", [](Program&, Dispatch& step) { step.pipeline = 1; });
  expect_refused("origin", [](Program&, Dispatch& step) { step.origin = 1; });
  expect_refused("no groups", [](Program&, Dispatch& step) { step.groups[1] = 0; });
  expect_refused("too many groups", [](Program&, Dispatch& step) { step.groups[2] = 65536; });
  expect_refused("push constants", [](Program&, Dispatch& step) { step.push_constants.resize(33); });
  expect_refused("stripes longer than their pitch",
                 [](Program&, Dispatch& step) { step.bindings[0].touched = {4, 14, 16}; });
  expect_refused("a pitch past the end", [](Program&, Dispatch& step) { step.bindings[0].touched = {0, 4, 65}; });
  expect_refused("range", [](Program& program, Dispatch& step) {
    program.segments[0].size = std::uint64_t{1} << 28U;
    step.bindings[0].size = (std::uint64_t{1} << 27U) + 4;
  });
  for (const SegmentKind kind : {SegmentKind::input, SegmentKind::constant, SegmentKind::parameters}) {
    expect_refused("a segment that is only read",
                   [&](Program& program, Dispatch&) { program.segments[1].kind = kind; });
  }
}

}  // namespace
}  // namespace lapilli
