// Greedy suppression of overlapping boxes. A workgroup has one batch and class: it goes through the boxes from the best
// on, and each that is still there removes those behind it that overlap it.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint CENTRED = 0;
layout(constant_id = 3) const uint HAS_LEAST_SCORE = 0;
layout(constant_id = 4) const uint BOX_DTYPE = 1;
layout(constant_id = 5) const uint SCORE_DTYPE = 1;
layout(constant_id = 6) const uint OVERLAP_DTYPE = 1;
layout(constant_id = 7) const uint LEAST_SCORE_DTYPE = 1;

#define CHAIN_ID 8
#define CHAIN_STEPS 8
#include "operands.glsl"

layout(binding = 1) coherent restrict buffer Kept { int kept[]; };
INPUT_OPERAND(box, 2)
INPUT_OPERAND(score, 3)
layout(binding = 4) readonly restrict buffer Order { uint order[]; };
layout(binding = 5) readonly restrict buffer Most { int most[]; };
INPUT_OPERAND(overlap, 6)
INPUT_OPERAND(least_score, 7)

// Parameters: workgroups; classes (as a divisor); boxes of a row; offsets of kept, boxes, scores, order and the scalars.
const uint CLASSES_AT = 1u, BOXES_AT = 4u, KEPT_AT = 5u, BOX_AT = 6u, SCORE_AT = 7u, ORDER_AT = 8u, MOST_AT = 9u;
const uint OVERLAP_AT = 10u, LEAST_SCORE_AT = 11u;

struct Box {
  vec2 low, high;
};

Box read_box(uint at) {
  vec4 numbers;
  for (uint i = 0u; i < 4u; ++i) {
    load_box(BOX_DTYPE, at + i, 0u);
    numbers[i] = reals[0];
  }
  const vec2 a = numbers.xy, b = numbers.zw;
  if (CENTRED != 0u) return Box(a - b / 2.0, a + b / 2.0);
  return Box(min(a, b), max(a, b));
}

float area(Box box) { return (box.high.x - box.low.x) * (box.high.y - box.low.y); }

bool overlaps(Box a, Box b, float most_overlap) {
  const Box both = Box(max(a.low, b.low), min(a.high, b.high));
  if (both.high.x <= both.low.x || both.high.y <= both.low.y) return false;
  const float shared_area = area(both), area_a = area(a), area_b = area(b);
  const float joined = area_a + area_b - shared_area;
  return shared_area > 0.0 && area_a > 0.0 && area_b > 0.0 && joined > 0.0 && shared_area / joined > most_overlap;
}

void wait_for_group() {
  memoryBarrierBuffer();
  barrier();
}

void main() {
  const uint row = group_number();
  if (row >= parameter(0u)) return;
  const uint boxes = parameter(BOXES_AT), batch = divide(row, divisor_parameter(CLASSES_AT));
  const uint own_kept = parameter(KEPT_AT) + row * boxes, own_order = parameter(ORDER_AT) + row * boxes;
  const uint own_boxes = parameter(BOX_AT) + batch * boxes * 4u, own_scores = parameter(SCORE_AT) + row * boxes;
  load_overlap(OVERLAP_DTYPE, parameter(OVERLAP_AT), 1u);
  if (HAS_LEAST_SCORE != 0u) load_least_score(LEAST_SCORE_DTYPE, parameter(LEAST_SCORE_AT), 2u);
  const float most_overlap = reals[1], least_score = reals[2];
  const int wanted = most[parameter(MOST_AT)];
  for (uint i = gl_LocalInvocationIndex; i < boxes; i += gl_WorkGroupSize.x) {
    load_score(SCORE_DTYPE, own_scores + order[own_order + i], 0u);
    kept[own_kept + i] = HAS_LEAST_SCORE == 0u || reals[0] > least_score ? 1 : 0;
  }
  wait_for_group();
  int found = 0;
  for (uint best = 0u; best < boxes; ++best) {
    if (kept[own_kept + best] == 0) continue;
    const bool full = found >= wanted;
    const Box box = read_box(own_boxes + order[own_order + best] * 4u);
    if (full) {
      // All have to see the mark that comes next to go before it goes.
      wait_for_group();
      for (uint i = best + gl_LocalInvocationIndex; i < boxes; i += gl_WorkGroupSize.x) kept[own_kept + i] = 0;
      break;
    }
    for (uint i = best + 1u + gl_LocalInvocationIndex; i < boxes; i += gl_WorkGroupSize.x) {
      if (kept[own_kept + i] == 0) continue;
      if (overlaps(box, read_box(own_boxes + order[own_order + i] * 4u), most_overlap)) kept[own_kept + i] = 0;
    }
    ++found;
    wait_for_group();
  }
}
