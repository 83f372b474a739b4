// Elementary functions in float32 to a few units in the last place, whatever the driver's own are worth: Vulkan allows
// errors of 2^-11 in sin and 4096 units in atan. Coefficients: Cephes Math Library, S. L. Moshier; erf: the rational
// minimax approximation of W. J. Cody's form on [-4, 4].
#ifndef LAPILLI_ELEMENTARY
#define LAPILLI_ELEMENTARY

const float PI = 3.14159265358979;
#define NOT_A_NUMBER uintBitsToFloat(0x7FC00000u)
#define INFINITY uintBitsToFloat(0x7F800000u)

// By bits: drivers may assume that there are no NaN and drop the built-in tests.
bool is_not_a_number(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool is_infinity(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) == 0x7F800000u; }

// clamp() may turn what is no number into a bound.
float limited(float x, float low, float high) { return is_not_a_number(x) ? x : min(max(x, low), high); }

// As float16 keeps it, but for rounding: a number stays one.
float within_half(float x) { return is_infinity(x) ? x : limited(x, -65504.0, 65504.0); }

float with_sign_of(float magnitude, float x) {
  return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7FFFFFFFu) | (floatBitsToUint(x) & 0x80000000u));
}

float round_half_even(float x) { return roundEven(x); }

// The bits of 2/pi behind the point, after 64 zeros: as many as the exponents of the type reach.
const uint TWO_OVER_PI[] = uint[](
  0u, 0u,
  0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u
#if LEVEL >= 3
  ,
  0xB7246E3Au, 0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu, 0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u,
  0xE99C7026u, 0xB45F7E41u, 0x3991D639u, 0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu,
  0xEF2F118Bu, 0x5A0A6D1Fu, 0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu,
  0x3D0739F7u, 0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u
#endif
);

uint two_over_pi(uint first_bit) {
  const uint word = first_bit >> 5, shift = first_bit & 31u;
  return shift == 0u ? TWO_OVER_PI[word] : (TWO_OVER_PI[word] << shift) | (TWO_OVER_PI[word + 1u] >> (32u - shift));
}

// The product with 2/pi modulo 4 and to 62 bits behind the point: earlier bits of 2/pi make whole turns (Payne and
// Hanek 1983).
float reduce_far_angle(float x, out int quarter) {
  const uint bits = floatBitsToUint(x), exponent = (bits >> 23) & 0xFFu;
  quarter = 0;
  if (exponent == 0xFFu) return NOT_A_NUMBER;
  const uint significand = (bits << 8) | 0x80000000u, first = exponent - 96u;
  uint high, low, lowest, carry, unused;
  umulExtended(significand, two_over_pi(first + 64u), lowest, unused);
  umulExtended(significand, two_over_pi(first + 32u), high, low);
  low = uaddCarry(low, lowest, carry);
  high += carry + significand * two_over_pi(first);
  const uint nearest = (high + 0x20000000u) >> 30;
  high -= nearest << 30;
  const bool below = (high & 0x80000000u) != 0u, negative = x < 0.0;
  if (below) {
    low = ~low + 1u;
    high = ~high + (low == 0u ? 1u : 0u);
  }
  quarter = negative ? -int(nearest) : int(nearest);
  const float size = (float(high) * 4294967296.0 + float(low)) * 3.4061215800865545e-19;  // of 2^-62 * pi/2
  return below != negative ? -size : size;
}

// What is left of the angle after the nearest number of quarter turns: up to 8192 with pi/2 in three parts.
float reduce_angle(float x, out int quarter) {
  if (!(abs(x) < 8192.0)) return reduce_far_angle(x, quarter);
  const float n = roundEven(x * 0.636619772367581);
  quarter = int(n);
  return ((x - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.54978995489188216e-8;
}

float sine_of_quarter(float x, int quarter) {
  const float z = x * x;
  const float s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * x + x;
  const float c = ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z + 1.0;
  const float value = (quarter & 1) != 0 ? c : s;
  return (quarter & 2) != 0 ? -value : value;
}

float accurate_sine(float x) {
  int quarter;
  const float angle = reduce_angle(x, quarter);
  return sine_of_quarter(angle, quarter);
}

float accurate_cosine(float x) {
  int quarter;
  const float angle = reduce_angle(x, quarter);
  return sine_of_quarter(angle, quarter + 1);
}

float accurate_tangent(float x) {
  int quarter;
  const float angle = reduce_angle(x, quarter);
  return sine_of_quarter(angle, quarter) / sine_of_quarter(angle, quarter + 1);
}

float accurate_arctangent(float x) {
  const float a = abs(x);
  const bool far = a > 2.414213562373095, middle = a > 0.4142135623730950;
  const float t = far ? -1.0 / a : middle ? (a - 1.0) / (a + 1.0) : a;
  const float base = far ? PI / 2.0 : middle ? PI / 4.0 : 0.0;
  const float z = t * t;
  const float p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1;
  return with_sign_of(base + (p * z * t + t), x);
}

float arcsine_polynomial(float z) {
  return (((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z + 1.6666752422e-1;
}

float accurate_arcsine(float x) {
  const float a = abs(x);
  const bool outer = a > 0.5;
  const float z = outer ? 0.5 * (1.0 - a) : a * a;
  const float t = outer ? sqrt(z) : a;
  const float value = arcsine_polynomial(z) * z * t + t;
  return a > 1.0 ? NOT_A_NUMBER : with_sign_of(outer ? PI / 2.0 - 2.0 * value : value, x);
}

float accurate_arccosine(float x) {
  if (x > 0.5) return 2.0 * accurate_arcsine(sqrt(0.5 * (1.0 - x)));
  if (x < -0.5) return PI - 2.0 * accurate_arcsine(sqrt(0.5 * (1.0 + x)));
  return PI / 2.0 - accurate_arcsine(x);
}

float accurate_hyperbolic_tangent(float x) {
  const float a = abs(x), z = x * x;
  if (a < 0.625) {
    const float p = (((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z -
                    3.33332819422e-1;
    return p * z * x + x;
  }
  return with_sign_of(a > 10.0 ? 1.0 : 1.0 - 2.0 / (exp(2.0 * a) + 1.0), x);
}

float accurate_hyperbolic_sine(float x) {
  const float a = abs(x), z = x * x;
  if (a < 1.0) return ((2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1) * z * x + x;
  const float e = exp(0.5 * a);
  return with_sign_of((0.5 * e) * e - 0.5 / e / e, x);
}

float accurate_hyperbolic_cosine(float x) {
  const float e = exp(0.5 * abs(x));
  return (0.5 * e) * e + 0.5 / e / e;
}

float accurate_inverse_hyperbolic_sine(float x) {
  const float a = abs(x), z = x * x;
  if (a < 0.5) {
    return (((2.0122003309e-2 * z - 4.2699340972e-2) * z + 7.4847586088e-2) * z - 1.6666288134e-1) * z * x + x;
  }
  return with_sign_of(a > 1e9 ? log(a) + 0.69314718056 : log(a + sqrt(z + 1.0)), x);
}

float accurate_inverse_hyperbolic_cosine(float x) {
  const float z = x - 1.0;
  if (x < 1.0) return NOT_A_NUMBER;
  if (z < 0.5) {
    return ((((1.7596881071e-3 * z - 7.5272886713e-3) * z + 2.6454905019e-2) * z - 1.1784741703e-1) * z + 1.4142135263) *
           sqrt(z);
  }
  return x > 1e9 ? log(x) + 0.69314718056 : log(x + sqrt(z * (x + 1.0)));
}

float accurate_inverse_hyperbolic_tangent(float x) {
  const float a = abs(x), z = x * x;
  if (a < 0.5) {
    const float p = (((1.81740078349e-1 * z + 8.24370301058e-2) * z + 1.46691431730e-1) * z + 1.99782164500e-1) * z +
                    3.33337300303e-1;
    return p * z * x + x;
  }
  return 0.5 * log((1.0 + x) / (1.0 - x));
}

float accurate_error_function(float x) {
  const float t = limited(x, -4.0, 4.0), z = t * t;
  float p = -2.72614225801306e-10;
  p = p * z + 2.77068142495902e-8;
  p = p * z - 2.10102402082508e-6;
  p = p * z - 5.69250639462346e-5;
  p = p * z - 7.34990630326855e-4;
  p = p * z - 2.95459980854025e-3;
  p = p * z - 1.60960333262415e-2;
  float q = -1.45660718464996e-5;
  q = q * z - 2.13374055278905e-4;
  q = q * z - 1.68282697438203e-3;
  q = q * z - 7.37332916720468e-3;
  q = q * z - 1.42647390514189e-2;
  return t * p / q;
}

// exp(x) - 1 without the loss near 0.
float accurate_exponential_minus_one(float x) {
  if (abs(x) > 1.0) return exp(x) - 1.0;
  const float t = accurate_hyperbolic_tangent(0.5 * x);
  return 2.0 * t / (1.0 - t);
}

float accurate_softplus(float x) { return max(x, 0.0) + log(1.0 + exp(-abs(x))); }

// By cases where drivers disagree.
float accurate_logarithm(float x) {
  return x > 0.0 ? log(x) : x == 0.0 ? uintBitsToFloat(0xFF800000u) : NOT_A_NUMBER;
}

float logistic(float x) { return 1.0 / (1.0 + exp(-x)); }

// At the edges as annex F of the C standard has pow.
float accurate_power(float x, float y) {
  if (y == 2.0) return x * x;
  if (y == 0.0 || x == 1.0) return 1.0;
  if (is_not_a_number(x) || is_not_a_number(y)) return NOT_A_NUMBER;
  const float size = abs(x);
  const bool whole = floor(y) == y, odd = whole && floor(0.5 * y) * 2.0 != y;
  float magnitude;
  if (size == 0.0 || is_infinity(x) || is_infinity(y)) {
    magnitude = size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  } else {
    if (x < 0.0 && !whole) return NOT_A_NUMBER;
    magnitude = y == 0.5 ? sqrt(size) : exp2(y * log2(size));
  }
  return odd ? with_sign_of(magnitude, x) : magnitude;
}

#endif
