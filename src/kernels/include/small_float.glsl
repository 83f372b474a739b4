// Floating-point types of 8 bits and fewer in registers of float32, by bits alone, so that neither the rounding nor the
// subnormals depend on the driver. src/base/small_float.h says what each function does.
#ifndef LAPILLI_SMALL_FLOAT
#define LAPILLI_SMALL_FLOAT

#include "elementary.glsl"
#include "types.glsl"

#ifdef SMALL_FLOATS
uint mantissa_bits(uint dtype) {
  switch (dtype) {
    case FLOAT8E4M3FN:
    case FLOAT8E4M3FNUZ:
    case FLOAT6E2M3: return 3u;
    case FLOAT4E2M1: return 1u;
  }
  return 2u;
}

int exponent_bias(uint dtype) {
  switch (dtype) {
    case FLOAT8E4M3FN: return 7;
    case FLOAT8E4M3FNUZ: return 8;
    case FLOAT8E5M2FNUZ: return 16;
    case FLOAT4E2M1:
    case FLOAT6E2M3: return 1;
    case FLOAT6E3M2: return 3;
  }
  return 15;
}

uint sign_bit(uint dtype) {
  switch (dtype) {
    case FLOAT4E2M1: return 0x8u;
    case FLOAT6E2M3:
    case FLOAT6E3M2: return 0x20u;
  }
  return 0x80u;
}

// The code of the largest number.
uint largest_code(uint dtype) {
  switch (dtype) {
    case FLOAT8E4M3FN: return 0x7Eu;
    case FLOAT8E5M2: return 0x7Bu;
  }
  return sign_bit(dtype) - 1u;
}

// Without an infinity and with one not-a-number, which is the code of -0.
bool has_unsigned_zero(uint dtype) { return dtype == FLOAT8E4M3FNUZ || dtype == FLOAT8E5M2FNUZ; }

// What a number past the largest one becomes where it is not saturated.
uint overflow_code(uint dtype) {
  if (has_unsigned_zero(dtype)) return 0x80u;
  return dtype == FLOAT8E4M3FN || dtype == FLOAT8E5M2 ? largest_code(dtype) + 1u : largest_code(dtype);
}

uint not_a_number_code(uint dtype) {
  switch (dtype) {
    case FLOAT8E4M3FN: return 0x7Fu;
    case FLOAT8E5M2: return 0x7Eu;
  }
  return sign_bit(dtype);
}

uint exponent_code(uint magnitude, bool saturate) {
  if (magnitude > 0x7F800000u) return 0xFFu;
  if (magnitude < 0x00400000u) return saturate || magnitude == 0u ? 0u : 0xFFu;
  const uint code = magnitude < 0x00800000u ? (magnitude >= 0x00600000u ? 1u : 0u) : (magnitude + 0x00400000u) >> 23;
  return saturate ? min(code, 0xFEu) : code;
}

uint small_float_code(uint dtype, float x, bool saturate) {
  const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
  if (dtype == FLOAT8E8M0) return exponent_code(magnitude, saturate);
  const uint sign = (bits >> 31) * sign_bit(dtype);
  if (magnitude > 0x7F800000u) return not_a_number_code(dtype) | sign;
  const uint mantissa = mantissa_bits(dtype), shift = 23u - mantissa;
  const int exponent = int(magnitude >> 23) - 127, lowest = 1 - exponent_bias(dtype);
  uint code;
  if (exponent >= lowest) {
    const uint rounded = magnitude + (1u << (shift - 1u)) - 1u + ((magnitude >> shift) & 1u);
    code = (rounded >> shift) - (uint(127 - exponent_bias(dtype)) << mantissa);
  } else {
    // The mantissa with its hidden bit, moved to where the subnormals have it.
    const uint distance = min(shift + uint(lowest - exponent), 31u);
    const uint whole = (magnitude & 0x7FFFFFu) | (magnitude >= 0x00800000u ? 0x00800000u : 0u);
    code = (whole + (1u << (distance - 1u)) - 1u + ((whole >> distance) & 1u)) >> distance;
  }
  if (code > largest_code(dtype)) code = saturate ? largest_code(dtype) : overflow_code(dtype);
  return has_unsigned_zero(dtype) && (code == 0u || code == 0x80u) ? code : code | sign;
}

float small_float_value(uint dtype, uint code) {
  // 2^-127 is a subnormal float32.
  if (dtype == FLOAT8E8M0) return uintBitsToFloat(code == 0xFFu ? 0x7FC00000u : code == 0u ? 0x00400000u : code << 23);
  const uint magnitude = code & (sign_bit(dtype) - 1u), sign = (code & sign_bit(dtype)) != 0u ? 0x80000000u : 0u;
  if (has_unsigned_zero(dtype) && code == 0x80u) return NOT_A_NUMBER;
  if (magnitude > largest_code(dtype)) {
    const bool infinite = dtype == FLOAT8E5M2 && magnitude == overflow_code(dtype);
    return uintBitsToFloat(sign | (infinite ? 0x7F800000u : 0x7FC00000u));
  }
  const uint mantissa = mantissa_bits(dtype), exponent = magnitude >> mantissa;
  if (exponent == 0u) {
    const float quantum = uintBitsToFloat(uint(128 - exponent_bias(dtype) - int(mantissa)) << 23);
    return uintBitsToFloat(sign | floatBitsToUint(float(magnitude) * quantum));
  }
  return uintBitsToFloat(sign | ((magnitude << (23u - mantissa)) + (uint(127 - exponent_bias(dtype)) << 23)));
}
#endif

uint bfloat16_bits(float x) {
  const uint bits = floatBitsToUint(x);
  return is_not_a_number(x) ? (bits >> 16) | 0x40u : (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

// By bits: drivers may take a conversion there and back for none.
float rounded_to_half(float x) {
  const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return x;
  uint rounded = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) & ~0x1FFFu;
  if (magnitude < 0x38800000u) rounded = floatBitsToUint(roundEven(uintBitsToFloat(magnitude) * 16777216.0) / 16777216.0);
  return uintBitsToFloat((bits & 0x80000000u) | (rounded >= 0x47800000u ? 0x7F800000u : rounded));
}

// The number as the type keeps it. Types of 16 bits have infinities and never saturate.
float rounded_to(uint dtype, float x, bool saturate) {
  if (dtype == BFLOAT16) return uintBitsToFloat(bfloat16_bits(x) << 16);
  if (dtype == FLOAT16) return rounded_to_half(x);
#ifdef SMALL_FLOATS
  if (is_small_float(dtype)) return small_float_value(dtype, small_float_code(dtype, x, saturate));
#endif
  return x;
}

float power_of_two_below(float x) {
  const uint magnitude = floatBitsToUint(x) & 0x7FFFFFFFu;
  if (magnitude == 0u || magnitude >= 0x7F800000u) return uintBitsToFloat(magnitude);
  return uintBitsToFloat(magnitude >= 0x00800000u ? magnitude & 0x7F800000u : 1u << findMSB(magnitude));
}

float power_of_two_above(float x) {
  const uint magnitude = floatBitsToUint(x) & 0x7FFFFFFFu, below = floatBitsToUint(power_of_two_below(x));
  if (magnitude == below) return uintBitsToFloat(below);
  return uintBitsToFloat(below >= 0x00800000u ? below + 0x00800000u : below << 1);
}

#if LEVEL >= 3
// By bits, too: the float towards zero, whose last bit is set where digits are lost.
float rounded_to_odd(double x) {
  const uvec2 bits = unpackDouble2x32(x);
  const uint wide_exponent = (bits.y >> 20) & 0x7FFu;
  const int exponent = int(wide_exponent) - 896;
  if (exponent >= 255) return float(x);
  uint magnitude = ((bits.y & 0xFFFFFu) << 3) | (bits.x >> 29);
  bool lost = (bits.x & 0x1FFFFFFFu) != 0u;
  if (exponent > 0) {
    magnitude |= uint(exponent) << 23;
  } else {
    const uint distance = uint(min(1 - exponent, 25));
    if (wide_exponent != 0u) magnitude |= 0x00800000u;
    lost = lost || (magnitude & ((1u << distance) - 1u)) != 0u;
    magnitude >>= distance;
  }
  return uintBitsToFloat((bits.y & 0x80000000u) | magnitude | (lost ? 1u : 0u));
}
#endif

#endif
