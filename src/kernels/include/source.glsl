// One source and up to three operands of the epilogue, for kernels whose bindings are 1 output, 2 source, 3 to 5
// operands. The includer declares SOURCE_DTYPE, OUTPUT_DTYPE, EPILOGUE_INPUTS (without the result) and EPILOGUE_DTYPES, and
// defines epilogue_address.
#ifndef LAPILLI_SOURCE
#define LAPILLI_SOURCE

#include "loops.glsl"
#include "operands.glsl"
#include "real.glsl"

OUTPUT_OPERAND(output, 1)
INPUT_OPERAND(source, 2)
INPUT_OPERAND(1, 3)
INPUT_OPERAND(2, 4)
INPUT_OPERAND(3, 5)

#define PREPARATION(name, code) const uint P_##name = code;
#include "preparation.def"
#undef PREPARATION

// Where the element of operand i of the epilogue lies that belongs to the result at hand.
uint epilogue_address(uint i);

uint epilogue_dtype(uint i) { return (EPILOGUE_DTYPES >> (8u * i)) & 0xFFu; }

// Register 0 through the chain to the output.
void store_result(uint output_address) {
  if (EPILOGUE_INPUTS > 0u) load_1(epilogue_dtype(0u), epilogue_address(0u), 1u);
  if (EPILOGUE_INPUTS > 1u) load_2(epilogue_dtype(1u), epilogue_address(1u), 2u);
  if (EPILOGUE_INPUTS > 2u) load_3(epilogue_dtype(2u), epilogue_address(2u), 3u);
  run_chain();
  const uint result = FIRST_STEP + CHAIN_STEPS - 1u;
  convert_result(result, OUTPUT_DTYPE);
  store_output(OUTPUT_DTYPE, output_address, result);
}

REAL prepared(uint preparation, REAL exponent, REAL x) {
  switch (preparation) {
    case P_absolute: return abs(x);
    case P_square: return x * x;
    case P_absolute_power: return power(abs(x), exponent);
  }
  return x;
}

INTEGER prepared(uint preparation, INTEGER x) {
  switch (preparation) {
    case P_absolute: return x < INTEGER(0) ? -x : x;
    case P_square: return x * x;
  }
  return x;
}

// The largest and the smallest element of a type.
INTEGER highest_integer(uint dtype) {
  if (is_unsigned(dtype) || dtype == BOOL) return narrow(dtype, INTEGER(-1));
  switch (dtype) {
    case INT8: return INTEGER(0x7F);
    case INT16: return INTEGER(0x7FFF);
    case INT32: return INTEGER(0x7FFFFFFF);
  }
  return ~(INTEGER(1) << (INTEGER_BITS - 1));
}

INTEGER lowest_integer(uint dtype) {
  return is_unsigned(dtype) || dtype == BOOL ? INTEGER(0) : ~highest_integer(dtype);
}

// A register of numbers of any type.
REAL number_register(uint dtype, uint i) {
  if (is_floating(dtype)) return real_register(dtype, i);
  return is_unsigned(dtype) ? REAL(UNSIGNED(integers[i])) : REAL(integers[i]);
}

// Interpolated integers are cut off, but what is one except for the rounding of its weights stays it (cut_off in
// src/ops/sampling.h).
void set_number_register(uint dtype, uint i, REAL x) {
  if (is_floating(dtype)) {
    set_real_register(dtype, i, x);
    return;
  }
  if (dtype == BOOL) {
    integers[i] = x != 0.0 ? INTEGER(1) : INTEGER(0);
    return;
  }
  const REAL nudged = x + sign(x) / 8192.0, within = is_unsigned(dtype) ? max(nudged, 0.0) : nudged;
#if LEVEL >= 3
  const INTEGER value = double_to_integer(within, dtype);
#else
  const INTEGER value = real_to_integer(within, dtype);
#endif
  const INTEGER highest = highest_integer(dtype);
  // The highest of the widest unsigned type is -1 in a register.
  integers[i] = highest < INTEGER(0) ? value : clamp(value, lowest_integer(dtype), highest);
}

#endif
