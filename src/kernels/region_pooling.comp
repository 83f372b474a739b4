// One invocation makes one bin of one region.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LOOPS = 1;
layout(constant_id = 3) const uint KIND = 0;  // lapilli::RegionPoolingKind
layout(constant_id = 4) const uint HALF_PIXEL = 0;
layout(constant_id = 5) const uint SOURCE_DTYPE = 1;
layout(constant_id = 6) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 7) const uint REGION_DTYPE = 1;
layout(constant_id = 8) const uint IMAGE_DTYPE = 7;
layout(constant_id = 9) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 10) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 11
#define CHAIN_STEPS 8
#include "source.glsl"

INPUT_OPERAND(region, 6)
INPUT_OPERAND(image, 7)

// Parameters: the number of results; the operands: output, source, epilogue, region, image, and the numbers of row and
// column; bins down and across, samples, scale; images, their stride, height, its stride, width, its stride; the stride
// between corners; divisors of the loops; the immediates.
const uint OPERANDS_AT = 1u, OPERAND_WORDS = 1u + LOOPS, REGION = 2u + EPILOGUE_INPUTS, IMAGE = 3u + EPILOGUE_INPUTS;
const uint BIN_ROW = 4u + EPILOGUE_INPUTS, BIN_COLUMN = 5u + EPILOGUE_INPUTS;
const uint REST_AT = OPERANDS_AT + OPERAND_WORDS * (6u + EPILOGUE_INPUTS), DIVISORS_AT = REST_AT + 11u;
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (LOOPS - 1u);

const uint ALIGNED_MEAN = 0u, ALIGNED_MAXIMUM = 1u, MAXIMUM = 2u;
const uint OTHER_REGISTER = 7u;  // no input of an epilogue

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, LOOPS); }

uint epilogue_address(uint i) { return operand_address(2u + i); }

REAL corner(uint i) {
  load_region(REGION_DTYPE, operand_address(REGION) + i * parameter(REST_AT + 10u), OTHER_REGISTER);
  return real_register(REGION_DTYPE, OTHER_REGISTER);
}

// The first element of the image that the region lies in.
uint plane() {
  load_image(IMAGE_DTYPE, operand_address(IMAGE), OTHER_REGISTER);
  const INTEGER last = INTEGER(parameter(REST_AT + 4u)) - INTEGER(1);
  return operand_address(1u) + uint(clamp(integers[OTHER_REGISTER], INTEGER(0), last)) * parameter(REST_AT + 5u);
}

REAL element(uint index) {
  load_source(SOURCE_DTYPE, index, 0u);
  return real_register(SOURCE_DTYPE, 0u);
}

// A bin along one axis: where it begins and how long it is.
struct Span {
  REAL begin, size;
};

Span aligned_span(REAL low, REAL high, uint bins, uint bin) {
  const REAL scale = uintBitsToFloat(parameter(REST_AT + 3u)), shift = HALF_PIXEL != 0u ? 0.5 : 0.0;
  const REAL begin = low * scale - shift;
  REAL length = high * scale - shift - begin;
  if (HALF_PIXEL == 0u) length = max(length, 1.0);
  const REAL size = length / REAL(bins);
  return Span(begin + REAL(bin) * size, size);
}

// The two neighbours of a sample and the weight of the second.
struct Sample {
  bool inside;
  uint first, second;
  REAL fraction;
};

Sample sample_at(REAL place, uint extent) {
  const REAL last = REAL(extent) - 1.0;
  if (!(place >= -1.0 && place <= REAL(extent))) return Sample(false, 0u, 0u, 0.0);
  const REAL inside = clamp(place, 0.0, last), whole = floor(inside);
  const uint first = uint(whole);
  return Sample(true, first, min(first + 1u, extent - 1u), inside - whole);
}

uint sample_count(REAL size) {
  const uint fixed_count = parameter(REST_AT + 2u);
  return fixed_count != 0u ? fixed_count : uint(clamp(ceil(size), 0.0, 16777216.0));
}

// The samples of a bin, from one to before another, that may lie in the image: some too many at each end,
// as divisions are not exact.
uvec2 samples_inside(Span span, uint count, uint extent) {
  const REAL step = span.size / REAL(count);
  if (!(step > 0.0)) return uvec2(0u, count);
  const REAL first = floor((-1.0 - span.begin) / step) - 3.0, end = ceil((REAL(extent) - span.begin) / step) + 3.0;
  return uvec2(clamp(first, 0.0, REAL(count)), clamp(end, 0.0, REAL(count)));
}

REAL pool_samples(uint row, uint column) {
  const uint source = plane(), height = parameter(REST_AT + 6u), width = parameter(REST_AT + 8u);
  const uint down = parameter(REST_AT + 7u), across = parameter(REST_AT + 9u);
  const Span y = aligned_span(corner(1u), corner(3u), parameter(REST_AT), row);
  const Span x = aligned_span(corner(0u), corner(2u), parameter(REST_AT + 1u), column);
  const uint rows = sample_count(y.size), columns = sample_count(x.size);
  // Samples outside of the image are 0, and a bin may have any number of them.
  const uvec2 inside_rows = samples_inside(y, rows, height), inside_columns = samples_inside(x, columns, width);
  const bool all_inside = inside_rows == uvec2(0u, rows) && inside_columns == uvec2(0u, columns);
  REAL sum = 0.0, largest = all_inside ? -INFINITY : 0.0;
  for (uint i = inside_rows.x; i < inside_rows.y; ++i) {
    const Sample v = sample_at(y.begin + (REAL(i) + 0.5) * y.size / REAL(rows), height);
    for (uint j = inside_columns.x; j < inside_columns.y; ++j) {
      const Sample h = sample_at(x.begin + (REAL(j) + 0.5) * x.size / REAL(columns), width);
      REAL values[4] = REAL[](0.0, 0.0, 0.0, 0.0);
      if (v.inside && h.inside) {
        const REAL low_v = 1.0 - v.fraction, low_h = 1.0 - h.fraction;
        values[0] = low_v * low_h * element(source + v.first * down + h.first * across);
        values[1] = low_v * h.fraction * element(source + v.first * down + h.second * across);
        values[2] = v.fraction * low_h * element(source + v.second * down + h.first * across);
        values[3] = v.fraction * h.fraction * element(source + v.second * down + h.second * across);
      }
      sum += values[0] + values[1] + values[2] + values[3];
      largest = max(largest, max(max(values[0], values[1]), max(values[2], values[3])));
    }
  }
  if (rows == 0u || columns == 0u) return 0.0;
  return KIND == ALIGNED_MEAN ? sum / (REAL(rows) * REAL(columns)) : largest;
}

// The elements of a bin of whole elements, which may share a row or a column with its neighbours.
uvec2 whole_span(REAL low, REAL high, uint bins, uint bin, uint extent) {
  const REAL scale = uintBitsToFloat(parameter(REST_AT + 3u));
  const REAL begin = floor(low * scale + 0.5), length = max(floor(high * scale + 0.5) - begin + 1.0, 1.0);
  const REAL size = length / REAL(bins), limit = REAL(extent);
  return uvec2(clamp(vec2(floor(REAL(bin) * size), ceil(REAL(bin + 1u) * size)) + begin, 0.0, limit));
}

REAL pool_elements(uint row, uint column) {
  const uint source = plane();
  const uvec2 y = whole_span(corner(1u), corner(3u), parameter(REST_AT), row, parameter(REST_AT + 6u));
  const uvec2 x = whole_span(corner(0u), corner(2u), parameter(REST_AT + 1u), column, parameter(REST_AT + 8u));
  REAL largest = y.x < y.y && x.x < x.y ? -INFINITY : 0.0;
  for (uint i = y.x; i < y.y; ++i) {
    for (uint j = x.x; j < x.y; ++j) {
      largest = max(largest, element(source + i * parameter(REST_AT + 7u) + j * parameter(REST_AT + 9u)));
    }
  }
  return largest;
}

void main() {
  const uint result = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (result >= parameter(0u)) return;
  find_coordinates(result, LOOPS, DIVISORS_AT);
  load_immediates(IMMEDIATES_AT);
  const uint row = operand_address(BIN_ROW), column = operand_address(BIN_COLUMN);
  const REAL value = KIND == MAXIMUM ? pool_elements(row, column) : pool_samples(row, column);
  set_real_register(SOURCE_DTYPE, 0u, value);
  store_result(operand_address(0u));
}
