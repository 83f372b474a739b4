// The index arithmetic that all contraction kernels share (src/plan/contraction.h): which element of each operand a
// batch, a row, a column and a tap of the window stand for. The includer defines the constants that are named here in
// capitals, and LOOPS_AT, the first parameter of what follows, in this order: the output's offset and strides along
// batch axes, row axes and columns; A's, with the stride of channels last; B's offset and strides along batch axes,
// taps, channels and columns; each epilogue operand's, like the output's; sizes of all row axes but the first, then of
// all batch axes but the first, as divisors; input size and padding of each window axis.
#ifndef LAPILLI_CONTRACTION_LOOPS
#define LAPILLI_CONTRACTION_LOOPS

const uint MOST_BATCH_AXES = 6u, MOST_ROW_AXES = 5u, MOST_WINDOW_AXES = 4u;

const uint ELEMENT_WORDS = 2u + BATCH_RANK + ROW_RANK;
const uint OUTPUT_AT = LOOPS_AT;
const uint A_AT = OUTPUT_AT + ELEMENT_WORDS;
const uint B_AT = A_AT + ELEMENT_WORDS;
const uint EPILOGUE_AT = B_AT + 4u + BATCH_RANK;
const uint ROW_DIVISORS_AT = EPILOGUE_AT + ELEMENT_WORDS * EPILOGUE_INPUTS;
const uint BATCH_DIVISORS_AT = ROW_DIVISORS_AT + DIVISOR_WORDS * (ROW_RANK - 1u);
const uint WINDOW_AT = BATCH_DIVISORS_AT + DIVISOR_WORDS * (BATCH_RANK > 0u ? BATCH_RANK - 1u : 0u);
const uint IMMEDIATES_AT = WINDOW_AT + 2u * WINDOW_RANK;

uint batch_index[MOST_BATCH_AXES];
uint row_index[MOST_ROW_AXES];

void find_batch(uint batch) {
  [[unroll]] for (uint axis = MOST_BATCH_AXES - 1u; axis > 0u; --axis) {
    if (axis >= BATCH_RANK) continue;
    const Divisor size = divisor_parameter(BATCH_DIVISORS_AT + DIVISOR_WORDS * (axis - 1u));
    const uint rest = divide(batch, size);
    batch_index[axis] = batch - rest * size.size;
    batch = rest;
  }
  batch_index[0] = batch;
}

void find_row(uint row) {
  [[unroll]] for (uint axis = MOST_ROW_AXES - 1u; axis > 0u; --axis) {
    if (axis >= ROW_RANK) continue;
    const Divisor size = divisor_parameter(ROW_DIVISORS_AT + DIVISOR_WORDS * (axis - 1u));
    const uint rest = divide(row, size);
    row_index[axis] = row - rest * size.size;
    row = rest;
  }
  row_index[0] = row;
}

// The element of an operand at a batch, without its row.
uint batch_start(uint operand) {
  uint result = parameter(operand);
  [[unroll]] for (uint axis = 0u; axis < MOST_BATCH_AXES; ++axis) {
    if (axis < BATCH_RANK) result += batch_index[axis] * parameter(operand + 1u + axis);
  }
  return result;
}

uint row_offset(uint operand) {
  uint result = 0u;
  [[unroll]] for (uint axis = 0u; axis < MOST_ROW_AXES; ++axis) {
    if (axis < ROW_RANK) result += row_index[axis] * parameter(operand + 1u + BATCH_RANK + axis);
  }
  return result;
}

uint column_stride(uint operand) { return parameter(operand + 1u + BATCH_RANK + ROW_RANK); }
uint channel_stride_a() { return column_stride(A_AT); }
uint tap_stride_b() { return parameter(B_AT + 1u + BATCH_RANK); }
uint channel_stride_b() { return parameter(B_AT + 2u + BATCH_RANK); }
uint column_stride_b() { return parameter(B_AT + 3u + BATCH_RANK); }

// The window: constants of the pipeline, so that the loop over taps has no division by an unknown.
uint window_kernel(uint axis) { return axis == 0u ? KERNEL_0 : axis == 1u ? KERNEL_1 : axis == 2u ? KERNEL_2 : KERNEL_3; }
uint window_stride(uint axis) { return axis == 0u ? STRIDE_0 : axis == 1u ? STRIDE_1 : axis == 2u ? STRIDE_2 : STRIDE_3; }
uint window_dilation(uint axis) {
  return axis == 0u ? DILATION_0 : axis == 1u ? DILATION_1 : axis == 2u ? DILATION_2 : DILATION_3;
}
const uint TAPS = WINDOW_RANK == 0u ? 1u : KERNEL_0 * KERNEL_1 * KERNEL_2 * KERNEL_3;

uint tap_index[MOST_WINDOW_AXES];

void find_tap(uint tap) {
  [[unroll]] for (uint i = 0u; i < MOST_WINDOW_AXES; ++i) {
    const uint axis = MOST_WINDOW_AXES - 1u - i;
    if (axis >= WINDOW_RANK) continue;
    tap_index[axis] = tap % window_kernel(axis);
    tap /= window_kernel(axis);
  }
}

// Where the window of an output position begins along a window axis: an input position, or, transposed, the stride
// times one.
int window_start(uint axis) {
  const int position = int(row_index[1u + axis]), pad = int(parameter(WINDOW_AT + 2u * axis + 1u));
  return TRANSPOSED != 0u ? position + pad : position * int(window_stride(axis)) - pad;
}

// The input position that the current tap brings there; `inside` becomes false outside of the input.
uint window_position(uint axis, int start, inout bool inside) {
  const int step = int(tap_index[axis] * window_dilation(axis));
  uint position = uint(start + step);
  if (TRANSPOSED != 0u) {
    const int distance = start - step;
    position = uint(distance) / window_stride(axis);
    inside = inside && distance >= 0 && position * window_stride(axis) == uint(distance);
  }
  inside = inside && position < parameter(WINDOW_AT + 2u * axis);
  return position;
}

#endif
