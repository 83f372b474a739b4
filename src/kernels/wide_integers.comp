// Arithmetic of 64-bit integers for devices without them, as two words, the lower one first. No kernel of its own:
// src/vulkan/wide_integers.cpp takes the functions out of the compiled module, by their names, and puts calls of them
// where a kernel has an instruction on 64-bit integers. Parameters are constant, so that they are passed as values.
#version 460

#if LEVEL >= 3
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
#endif

layout(local_size_x = 1) in;
layout(binding = 0) buffer Words { uvec2 words[]; };

uvec2 add(const uvec2 a, const uvec2 b) {
  uint carry;
  const uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

uvec2 subtract(const uvec2 a, const uvec2 b) {
  uint borrow;
  const uint low = usubBorrow(a.x, b.x, borrow);
  return uvec2(low, a.y - b.y - borrow);
}

uvec2 negate(const uvec2 a) { return subtract(uvec2(0u), a); }

uvec2 multiply(const uvec2 a, const uvec2 b) {
  uint high, low;
  umulExtended(a.x, b.x, high, low);
  return uvec2(low, high + a.x * b.y + a.y * b.x);
}

bool is_equal(const uvec2 a, const uvec2 b) { return a.x == b.x && a.y == b.y; }
bool unsigned_less(const uvec2 a, const uvec2 b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }
bool signed_less(const uvec2 a, const uvec2 b) { return a.y != b.y ? int(a.y) < int(b.y) : a.x < b.x; }

uvec2 shift_left(const uvec2 a, const uint by) {
  if (by == 0u) return a;
  if (by >= 32u) return uvec2(0u, by >= 64u ? 0u : a.x << (by - 32u));
  return uvec2(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

uvec2 shift_right(const uvec2 a, const uint by) {
  if (by == 0u) return a;
  if (by >= 32u) return uvec2(by >= 64u ? 0u : a.y >> (by - 32u), 0u);
  return uvec2((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

uvec2 shift_right_signed(const uvec2 a, const uint by) {
  const uint sign = uint(int(a.y) >> 31);
  if (by == 0u) return a;
  if (by >= 32u) return uvec2(by >= 64u ? sign : uint(int(a.y) >> (by - 32u)), sign);
  return uvec2((a.x >> by) | (a.y << (32u - by)), uint(int(a.y) >> by));
}

uvec2 unsigned_divide(const uvec2 a, const uvec2 b) {
  if (a.y == 0u && b.y == 0u) return uvec2(b.x == 0u ? 0u : a.x / b.x, 0u);
  uvec2 quotient = uvec2(0u), rest = uvec2(0u);
  for (int bit = 63; bit >= 0; --bit) {
    const bool overflows = (rest.y >> 31) != 0u;
    rest = shift_left(rest, 1u);
    rest.x |= (bit >= 32 ? a.y >> (bit - 32) : a.x >> bit) & 1u;
    if (!overflows && unsigned_less(rest, b)) continue;
    rest = subtract(rest, b);
    if (bit >= 32) quotient.y |= 1u << (bit - 32);
    else quotient.x |= 1u << bit;
  }
  return quotient;
}

uvec2 absolute(const uvec2 a) { return int(a.y) < 0 ? negate(a) : a; }

uvec2 signed_divide(const uvec2 a, const uvec2 b) {
  const uvec2 quotient = unsigned_divide(absolute(a), absolute(b));
  return (int(a.y) < 0) != (int(b.y) < 0) ? negate(quotient) : quotient;
}

uvec2 sign_extend(const int a) { return uvec2(uint(a), uint(a >> 31)); }
uvec2 zero_extend(const uint a) { return uvec2(a, 0u); }

// Rounded once: 32 bits and whether there are more below them say how.
float unsigned_to_float(const uvec2 a) {
  if (a.y == 0u) return float(a.x);
  const uint shift = uint(findMSB(a.y)) + 1u;
  uvec2 top = shift_right(a, shift);
  if (!is_equal(shift_left(top, shift), a)) top.x |= 1u;
  return float(top.x) * uintBitsToFloat((127u + shift) << 23);
}

float signed_to_float(const uvec2 a) {
  const float magnitude = unsigned_to_float(absolute(a));
  return int(a.y) < 0 ? -magnitude : magnitude;
}

uvec2 float_to_unsigned(const float x) {
  if (!(x >= 1.0)) return uvec2(0u);
  if (x < 4294967296.0) return uvec2(uint(x), 0u);
  const uint bits = floatBitsToUint(x);
  return shift_left(uvec2((bits & 0x7FFFFFu) | 0x800000u, 0u), (bits >> 23) - 150u);
}

uvec2 float_to_signed(const float x) {
  const uvec2 magnitude = float_to_unsigned(abs(x));
  return x < 0.0 ? negate(magnitude) : magnitude;
}

uvec2 unsigned_minimum(const uvec2 a, const uvec2 b) { return unsigned_less(b, a) ? b : a; }
uvec2 unsigned_maximum(const uvec2 a, const uvec2 b) { return unsigned_less(a, b) ? b : a; }
uvec2 signed_minimum(const uvec2 a, const uvec2 b) { return signed_less(b, a) ? b : a; }
uvec2 signed_maximum(const uvec2 a, const uvec2 b) { return signed_less(a, b) ? b : a; }
uvec2 unsigned_clamp(const uvec2 x, const uvec2 low, const uvec2 high) {
  return unsigned_minimum(unsigned_maximum(x, low), high);
}
uvec2 signed_clamp(const uvec2 x, const uvec2 low, const uvec2 high) {
  return signed_minimum(signed_maximum(x, low), high);
}

#if LEVEL >= 3
double unsigned_to_double(const uvec2 a) { return double(a.y) * 4294967296.0LF + double(a.x); }
double signed_to_double(const uvec2 a) { return double(int(a.y)) * 4294967296.0LF + double(a.x); }

uvec2 double_to_unsigned(const double x) {
  if (!(x >= 1.0LF)) return uvec2(0u);
  const uint high = uint(x / 4294967296.0LF);
  return uvec2(uint(x - double(high) * 4294967296.0LF), high);
}

uvec2 double_to_signed(const double x) {
  const uvec2 magnitude = double_to_unsigned(abs(x));
  return x < 0.0LF ? negate(magnitude) : magnitude;
}
#endif

// Calls all of them, since the compiler leaves out what nothing calls.
void main() {
  const uvec2 a = words[0], b = words[1];
  uvec2 all = add(a, b) ^ multiply(a, b) ^ unsigned_divide(a, b) ^ signed_divide(a, b);
  all ^= shift_right_signed(a, b.x) ^ sign_extend(int(a.x)) ^ zero_extend(a.x);
  all ^= float_to_signed(signed_to_float(a)) ^ unsigned_clamp(a, b, a) ^ signed_clamp(a, b, a);
#if LEVEL >= 3
  all ^= double_to_signed(signed_to_double(a)) ^ double_to_unsigned(unsigned_to_double(a));
#endif
  words[2] = all;
}
