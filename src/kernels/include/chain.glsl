// A chain of pointwise steps (src/ops/pointwise.h) as data: the steps are specialization constants, of which the driver
// keeps what is used. The includer sets CHAIN_ID, the first constant's id, and CHAIN_STEPS, at most 16.
#ifndef LAPILLI_CHAIN
#define LAPILLI_CHAIN

#include "elementary.glsl"
#if LEVEL >= 3
#include "elementary_double.glsl"
#endif
#include "exact.glsl"
#include "parameters.glsl"
#include "small_float.glsl"
#include "types.glsl"

#define FUNCTION(name, code, arguments) const uint F_##name = code;
#include "pointwise_functions.def"
#undef FUNCTION

layout(constant_id = CHAIN_ID) const uint CHAIN_LENGTH = 0;
layout(constant_id = CHAIN_ID + 1) const uint CHAIN_RESULT = 0;        // the register that is stored
layout(constant_id = CHAIN_ID + 2) const uint CHAIN_RESULT_DTYPE = 1;  // and its type
layout(constant_id = CHAIN_ID + 3) const uint CHAIN_IMMEDIATES = 0;
layout(constant_id = CHAIN_ID + 4) const uint CHAIN_IMMEDIATE_DTYPES_LOW = 0;  // one byte each
layout(constant_id = CHAIN_ID + 5) const uint CHAIN_IMMEDIATE_DTYPES_HIGH = 0;
#define CHAIN_STEP(i) layout(constant_id = CHAIN_ID + 6 + i) const uint STEP_##i = 0;
CHAIN_STEP(0) CHAIN_STEP(1) CHAIN_STEP(2) CHAIN_STEP(3) CHAIN_STEP(4) CHAIN_STEP(5) CHAIN_STEP(6) CHAIN_STEP(7)
#if CHAIN_STEPS > 8
CHAIN_STEP(8) CHAIN_STEP(9) CHAIN_STEP(10) CHAIN_STEP(11) CHAIN_STEP(12) CHAIN_STEP(13) CHAIN_STEP(14) CHAIN_STEP(15)
#endif
#undef CHAIN_STEP

// Registers: inputs from 0, immediates from 8, results of steps from 16.
const uint FIRST_IMMEDIATE = 8u, FIRST_STEP = 16u, REGISTERS = 16u + CHAIN_STEPS;
float reals[REGISTERS];
INTEGER integers[REGISTERS];
#if LEVEL >= 3
double doubles[REGISTERS];
#endif

float real_unary(uint function, float x) {
  switch (function) {
    case F_negate: return -x;
    case F_absolute: return abs(x);
    case F_sign: return is_not_a_number(x) ? x : sign(x);
    case F_reciprocal: return 1.0 / x;
    case F_square_root: return sqrt(x);
    case F_exponential: return exp(x);
    case F_logarithm: return accurate_logarithm(x);
    case F_floor: return floor(x);
    case F_ceiling: return ceil(x);
    case F_round: return round_half_even(x);
#ifndef INLINED
    case F_sine: return accurate_sine(x);
    case F_cosine: return accurate_cosine(x);
    case F_tangent: return accurate_tangent(x);
#endif
    case F_arcsine: return accurate_arcsine(x);
    case F_arccosine: return accurate_arccosine(x);
    case F_arctangent: return accurate_arctangent(x);
    case F_hyperbolic_sine: return accurate_hyperbolic_sine(x);
    case F_hyperbolic_cosine: return accurate_hyperbolic_cosine(x);
    case F_hyperbolic_tangent: return accurate_hyperbolic_tangent(x);
    case F_inverse_hyperbolic_sine: return accurate_inverse_hyperbolic_sine(x);
    case F_inverse_hyperbolic_cosine: return accurate_inverse_hyperbolic_cosine(x);
    case F_inverse_hyperbolic_tangent: return accurate_inverse_hyperbolic_tangent(x);
    case F_error_function: return accurate_error_function(x);
    case F_sigmoid: return logistic(x);
    case F_hard_swish: return x * limited(x / 6.0 + 0.5, 0.0, 1.0);
    case F_softplus: return accurate_softplus(x);
    case F_softsign: return x / (1.0 + abs(x));
    case F_mish: return x * accurate_hyperbolic_tangent(accurate_softplus(x));
    case F_gelu: return 0.5 * x * (1.0 + accurate_error_function(x * 0.70710678118654752));
    case F_gelu_tanh:
      return 0.5 * x * (1.0 + accurate_hyperbolic_tangent(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case F_relu: return x < 0.0 ? 0.0 : x;
    case F_silu: return x * logistic(x);
    case F_power_of_two_above: return power_of_two_above(x);
    case F_power_of_two_below: return power_of_two_below(x);
  }
  return x;
}

float real_step(uint function, float x, float y, float z) {
  switch (function) {
    case F_add: return x + y;
    case F_subtract: return x - y;
    case F_multiply: return x * y;
    case F_divide: return exact_quotient(x, y);
    case F_power: return accurate_power(x, y);
    case F_minimum: return is_not_a_number(x) || is_not_a_number(y) ? x + y : min(x, y);
    case F_maximum: return is_not_a_number(x) || is_not_a_number(y) ? x + y : max(x, y);
#ifndef INLINED
    case F_remainder: return exact_remainder(x, y);
    case F_modulo: return exact_modulo(x, y);
#endif
    case F_hard_sigmoid: return limited(x * y + z, 0.0, 1.0);
    case F_leaky_relu: return x < 0.0 ? x * y : x;
    case F_elu: return x < 0.0 ? y * accurate_exponential_minus_one(x) : x;
    case F_celu: return max(0.0, x) + min(0.0, y * accurate_exponential_minus_one(x / y));
    case F_threshold: return x > y ? x : 0.0;
    case F_clamp: return limited(x, y, z);
    case F_shrink: return x < -y ? x + z : x > y ? x - z : 0.0;
  }
  return real_unary(function, x);
}

bool real_predicate(uint function, float x, float y, float z) {
  switch (function) {
    case F_equal: return x == y;
    case F_less: return x < y;
    case F_less_or_equal: return x <= y;
    case F_is_nan: return is_not_a_number(x);
    case F_is_infinite: return is_infinity(x) && (x < 0.0 ? y : z) != 0.0;
  }
  return x != 0.0;
}

INTEGER integer_power(INTEGER base, INTEGER exponent) {
  if (exponent < INTEGER(0)) return base == INTEGER(1) ? base : base == INTEGER(-1) ? ((exponent & INTEGER(1)) == INTEGER(0) ? -base : base) : INTEGER(0);
  INTEGER result = INTEGER(1);
  while (exponent != INTEGER(0)) {
    if ((exponent & INTEGER(1)) != INTEGER(0)) result *= base;
    base *= base;
    exponent >>= 1;
  }
  return result;
}

// Quotient to zero and rest, by unsigned arithmetic where the type is; a division by zero gives 0.
INTEGER quotient(bool without_sign, INTEGER x, INTEGER y) {
  if (y == INTEGER(0)) return INTEGER(0);
  if (without_sign) return INTEGER(UNSIGNED(x) / UNSIGNED(y));
  if (y == INTEGER(-1)) return -x;
  return x / y;
}

bool integer_less(bool without_sign, INTEGER x, INTEGER y) {
  return without_sign ? UNSIGNED(x) < UNSIGNED(y) : x < y;
}

INTEGER integer_step(uint function, bool without_sign, INTEGER x, INTEGER y, INTEGER z) {
  const INTEGER zero = INTEGER(0), one = INTEGER(1);
  switch (function) {
    case F_add: return x + y;
    case F_subtract: return x - y;
    case F_multiply: return x * y;
    case F_divide: return quotient(without_sign, x, y);
    case F_power: return integer_power(x, y);
    case F_minimum: return integer_less(without_sign, x, y) ? x : y;
    case F_maximum: return integer_less(without_sign, x, y) ? y : x;
    case F_remainder: return y == zero ? zero : x - quotient(without_sign, x, y) * y;
    case F_modulo: {
      const INTEGER rest = y == zero ? zero : x - quotient(without_sign, x, y) * y;
      return !without_sign && rest != zero && (rest < zero) != (y < zero) ? rest + y : rest;
    }
    case F_negate: return -x;
    case F_absolute: return !without_sign && x < zero ? -x : x;
    case F_sign: return x == zero ? zero : !without_sign && x < zero ? -one : one;
    case F_clamp: {
      const INTEGER low = integer_less(without_sign, x, y) ? y : x;
      return integer_less(without_sign, z, low) ? z : low;
    }
    case F_relu: return !without_sign && x < zero ? zero : x;
    case F_leaky_relu: return x < zero ? x * y : x;
    case F_shrink: return x < -y ? x + z : x > y ? x - z : zero;
    case F_equal: return x == y ? one : zero;
    case F_less: return integer_less(without_sign, x, y) ? one : zero;
    case F_less_or_equal: return integer_less(without_sign, y, x) ? zero : one;
    case F_logical_not: return x == zero ? one : zero;
    case F_logical_and: return x != zero && y != zero ? one : zero;
    case F_logical_or: return x != zero || y != zero ? one : zero;
    case F_logical_xor: return (x != zero) != (y != zero) ? one : zero;
    case F_bitwise_not: return ~x;
    case F_bitwise_and: return x & y;
    case F_bitwise_or: return x | y;
    case F_bitwise_xor: return x ^ y;
    case F_shift_left: return UNSIGNED(y) >= UNSIGNED(INTEGER_BITS) ? zero : x << y;
    case F_shift_right:
      if (!without_sign) return x >> INTEGER(min(UNSIGNED(y), UNSIGNED(INTEGER_BITS - 1)));
      return UNSIGNED(y) >= UNSIGNED(INTEGER_BITS) ? zero : INTEGER(UNSIGNED(x) >> UNSIGNED(y));
  }
  return x;
}

#if LEVEL >= 3
#ifndef INLINED
double double_elementary(uint function, double x, double y) {
  switch (function) {
    case F_power: return double_power(x, y);
    case F_remainder: return double_remainder(x, y);
    case F_modulo: return double_modulo(x, y);
    case F_sine: return double_sine(x);
    case F_cosine: return double_cosine(x);
    case F_tangent: return double_tangent(x);
    case F_arcsine: return double_arcsine(x);
    case F_arccosine: return double_arccosine(x);
    case F_arctangent: return double_arctangent(x);
    case F_hyperbolic_sine: return double_hyperbolic_sine(x);
    case F_hyperbolic_cosine: return double_hyperbolic_cosine(x);
    case F_hyperbolic_tangent: return double_hyperbolic_tangent(x);
    case F_inverse_hyperbolic_sine: return double_inverse_hyperbolic_sine(x);
    case F_inverse_hyperbolic_cosine: return double_inverse_hyperbolic_cosine(x);
    case F_inverse_hyperbolic_tangent: return double_inverse_hyperbolic_tangent(x);
    case F_error_function: return double_error_function(x);
    case F_sigmoid: return double_logistic(x);
    case F_softplus: return double_softplus(x);
    case F_mish: return x * double_hyperbolic_tangent(double_softplus(x));
    case F_gelu: return 0.5LF * x * (1.0LF + double_error_function(x * 0.70710678118654752440LF));
    case F_gelu_tanh:
      return 0.5LF * x *
             (1.0LF + double_hyperbolic_tangent(0.79788456080286535588LF * (x + 0.044715LF * x * x * x)));
    case F_silu: return x * double_logistic(x);
    case F_elu: return x < 0.0LF ? y * double_exponential_minus_one(x) : x;
    case F_celu: return max(0.0LF, x) + min(0.0LF, y * double_exponential_minus_one(x / y));
  }
  return x;
}
#endif

double double_step(uint function, double x, double y, double z) {
  switch (function) {
    case F_add: return x + y;
    case F_subtract: return x - y;
    case F_multiply: return x * y;
    case F_divide: return x / y;
    case F_minimum: return is_not_a_number(x) || is_not_a_number(y) ? x + y : min(x, y);
    case F_maximum: return is_not_a_number(x) || is_not_a_number(y) ? x + y : max(x, y);
    case F_negate: return -x;
    case F_absolute: return abs(x);
    case F_sign: return is_not_a_number(x) ? x : sign(x);
    case F_reciprocal: return 1.0LF / x;
    case F_square_root: return sqrt(x);
    case F_exponential: return double_exponential(x);
    case F_logarithm: return double_logarithm(x);
    case F_floor: return floor(x);
    case F_ceiling: return ceil(x);
    case F_round: return round_half_even(x);
    case F_relu: return x < 0.0LF ? 0.0LF : x;
    case F_clamp: return limited(x, y, z);
    case F_leaky_relu: return x < 0.0LF ? x * y : x;
    case F_threshold: return x > y ? x : 0.0LF;
    case F_hard_sigmoid: return limited(x * y + z, 0.0LF, 1.0LF);
    case F_softsign: return x / (1.0LF + abs(x));
    case F_shrink: return x < -y ? x + z : x > y ? x - z : 0.0LF;
    case F_hard_swish: return x * limited(x / 6.0LF + 0.5LF, 0.0LF, 1.0LF);
  }
#ifndef INLINED
  return double_elementary(function, x, y);
#endif
  return x;
}

bool double_predicate(uint function, double x, double y, double z) {
  switch (function) {
    case F_equal: return x == y;
    case F_less: return x < y;
    case F_less_or_equal: return x <= y;
    case F_is_nan: return is_not_a_number(x);
    case F_is_infinite: return isinf(x) && (x < 0.0LF ? y : z) != 0.0LF;
  }
  return x != 0.0LF;
}
#endif

// Truncates like the host: NaN is 0, what is too large saturates.
INTEGER real_to_integer(float x, uint target) {
  if (is_not_a_number(x)) return INTEGER(0);
#if LEVEL >= 2
  if (target == UINT64 && x >= 9.2233720368547758e18) return INTEGER(x >= 1.8446744073709552e19 ? ~UNSIGNED(0) : UNSIGNED(x));
  if (x >= 9.2233720368547758e18) return 0x7FFFFFFFFFFFFFFFl;
  if (x < -9.2233720368547758e18) return INTEGER(-1) << 63;
#else
  if (target == UINT32 && x >= 2147483648.0) return INTEGER(x >= 4294967296.0 ? 0xFFFFFFFFu : uint(x));
  if (x >= 2147483648.0) return 0x7FFFFFFF;
  if (x < -2147483648.0) return INTEGER(-1) << 31;
#endif
  return INTEGER(x);
}

#if LEVEL >= 3
INTEGER double_to_integer(double x, uint target) {
  if (is_not_a_number(x)) return INTEGER(0);
  if (x >= 9.2233720368547758e18LF) {
    if (target != UINT64) return 0x7FFFFFFFFFFFFFFFl;
    return INTEGER(x >= 1.8446744073709552e19LF ? ~UNSIGNED(0) : UNSIGNED(x));
  }
  if (x < -9.2233720368547758e18LF) return INTEGER(-1) << 63;
  return INTEGER(x);
}
#endif

// Writes register `to` as `target` from register `from`, which holds a `source`.
void convert(uint from, uint source, uint to, uint target) {
#if LEVEL >= 3
  const double wide = source == FLOAT64 ? doubles[from]
                      : is_real(source) ? double(reals[from])
                      : source == UINT64 ? double(UNSIGNED(integers[from])) : double(integers[from]);
  if (target == FLOAT64) {
    doubles[to] = wide;
    return;
  }
  if (source == FLOAT64) {
    if (is_real(target)) {
      // Types of fewer bits round once more.
      reals[to] = target == FLOAT32 ? float(wide) : rounded_to_odd(wide);
    } else if (target == BOOL) {
      integers[to] = wide != 0.0LF ? INTEGER(1) : INTEGER(0);
    } else {
      integers[to] = narrow(target, double_to_integer(wide, target));
    }
    return;
  }
#endif
  if (is_real(target)) {
    reals[to] = is_real(source)      ? reals[from]
                : is_unsigned(source) ? float(UNSIGNED(integers[from])) : float(integers[from]);
  } else if (target == BOOL && is_real(source)) {
    // By bits: subnormals are not 0, whatever the device does with them.
    integers[to] = (floatBitsToUint(reals[from]) & 0x7FFFFFFFu) != 0u ? INTEGER(1) : INTEGER(0);
  } else {
    integers[to] = narrow(target, is_real(source) ? real_to_integer(reals[from], target) : integers[from]);
  }
}

// step: function, dtype, three arguments, in 8, 6, 6, 6 and 6 bits from the lowest. A cast has its source dtype in the
// place of the third argument. What is cast is rounded to the type at once, even where no memory lies between.
void run_step(uint step, uint result) {
  const uint function = step & 0xFFu, dtype = (step >> 8) & 0x3Fu;
  const uint a = (step >> 14) & 0x3Fu, b = (step >> 20) & 0x3Fu, c = step >> 26;
  const bool predicate = function >= F_is_nan && function <= F_less_or_equal;
  if (function == F_cast || function == F_cast_unsaturated) {
    convert(a, c, result, dtype);
    if (is_real(dtype)) reals[result] = rounded_to(dtype, reals[result], function == F_cast);
  } else if (is_real(dtype)) {
    if (function == F_select) {
      reals[result] = integers[a] != INTEGER(0) ? reals[b] : reals[c];
    } else if (predicate) {
      integers[result] = real_predicate(function, reals[a], reals[b], reals[c]) ? INTEGER(1) : INTEGER(0);
    } else {
      reals[result] = real_step(function, reals[a], reals[b], reals[c]);
    }
#if LEVEL >= 3
  } else if (dtype == FLOAT64) {
    if (function == F_select) {
      doubles[result] = integers[a] != INTEGER(0) ? doubles[b] : doubles[c];
    } else if (predicate) {
      integers[result] = double_predicate(function, doubles[a], doubles[b], doubles[c]) ? INTEGER(1) : INTEGER(0);
    } else {
      doubles[result] = double_step(function, doubles[a], doubles[b], doubles[c]);
    }
#endif
  } else if (function == F_select) {
    integers[result] = integers[a] != INTEGER(0) ? integers[b] : integers[c];
  } else {
    const INTEGER value = integer_step(function, is_unsigned(dtype), integers[a], integers[b], integers[c]);
    integers[result] = predicate ? value : narrow(dtype, value);
  }
}

// Immediates are two words each, in the parameters from `first` on: a float or the bits of a double or an integer.
void load_immediates(uint first) {
  for (uint i = 0u; i < 8u; ++i) {
    if (i >= CHAIN_IMMEDIATES) break;
    const uint word = i < 4u ? CHAIN_IMMEDIATE_DTYPES_LOW : CHAIN_IMMEDIATE_DTYPES_HIGH;
    const uint dtype = (word >> (8u * (i & 3u))) & 0xFFu;
    const uint low = parameter(first + 2u * i), high = parameter(first + 2u * i + 1u);
    if (is_real(dtype)) {
      reals[FIRST_IMMEDIATE + i] = uintBitsToFloat(low);
#if LEVEL >= 3
    } else if (dtype == FLOAT64) {
      doubles[FIRST_IMMEDIATE + i] = packDouble2x32(uvec2(low, high));
#endif
    } else {
#if LEVEL >= 2
      integers[FIRST_IMMEDIATE + i] = INTEGER(packUint2x32(uvec2(low, high)));
#else
      integers[FIRST_IMMEDIATE + i] = INTEGER(low);
#endif
    }
  }
}

void run_chain() {
#define RUN(i) if (CHAIN_LENGTH > i) run_step(STEP_##i, FIRST_STEP + i);
  RUN(0) RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7)
#if CHAIN_STEPS > 8
  RUN(8) RUN(9) RUN(10) RUN(11) RUN(12) RUN(13) RUN(14) RUN(15)
#endif
#undef RUN
}

// The chain's result as the type that it is stored in. Values of float32 that are stored as float16 stay within it:
// masks are the lowest float32, and a row of infinities has no softmax. What float16 itself overflows to is infinite.
void convert_result(uint to, uint dtype) {
  convert(CHAIN_RESULT, CHAIN_RESULT_DTYPE, to, dtype);
  if (CHAIN_RESULT_DTYPE == FLOAT32 && dtype == FLOAT16) reals[to] = within_half(reals[to]);
}

#endif
