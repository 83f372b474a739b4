// Elementary functions in double precision, of which GLSL has none but the square root. Series run until what is left
// out does not count; none of them is fast.
#ifndef LAPILLI_ELEMENTARY_DOUBLE
#define LAPILLI_ELEMENTARY_DOUBLE

#include "types.glsl"

// By bits, as in float32.
bool is_not_a_number(double x) {
  const uvec2 bits = unpackDouble2x32(x);
  const uint high = bits.y & 0x7FFFFFFFu;
  return high > 0x7FF00000u || (high == 0x7FF00000u && bits.x != 0u);
}

bool is_infinity(double x) {
  const uvec2 bits = unpackDouble2x32(x);
  return (bits.y & 0x7FFFFFFFu) == 0x7FF00000u && bits.x == 0u;
}

double with_sign_of(double magnitude, double x) {
  const uvec2 bits = unpackDouble2x32(magnitude);
  return packDouble2x32(uvec2(bits.x, (bits.y & 0x7FFFFFFFu) | (unpackDouble2x32(x).y & 0x80000000u)));
}

// Behind 2^52 there are no fractions left. llvmpipe's roundEven() of a double is wrong.
double round_half_even(double x) {
  const double whole = 4503599627370496.0LF;
  if (!(abs(x) < whole)) return x;
  precise const double raised = abs(x) + whole;
  precise const double rounded = raised - whole;
  return with_sign_of(rounded, x);
}

double limited(double x, double low, double high) { return is_not_a_number(x) ? x : min(max(x, low), high); }

// exp: x = n*ln 2 + r, a Taylor series in r; log: x = 2^n * m,
// the series of artanh((m-1)/(m+1)).
double double_exponential(double x) {
  if (x > 709.78LF) return packDouble2x32(uvec2(0u, 0x7FF00000u));
  if (x < -745.1LF) return 0.0LF;
  const double n = round_half_even(x * 1.4426950408889634074LF);
  const double r = (x - n * 0.693147180369123816490LF) - n * 1.90821492927058770002e-10LF;
  double sum = 1.0LF;
  for (int k = 16; k > 0; --k) sum = 1.0LF + sum * r / double(k);
  const int half_power = int(n) / 2, rest = int(n) - half_power;
  const double first = packDouble2x32(uvec2(0u, uint(half_power + 1023) << 20));
  return sum * first * packDouble2x32(uvec2(0u, uint(rest + 1023) << 20));
}

double double_logarithm(double x) {
  if (x != x || x < 0.0LF) return packDouble2x32(uvec2(0u, 0x7FF80000u));
  if (x == 0.0LF) return packDouble2x32(uvec2(0u, 0xFFF00000u));
  uvec2 bits = unpackDouble2x32(x);
  if ((bits.y & 0x7FF00000u) == 0x7FF00000u) return x;
  int n = 0;
  if ((bits.y & 0x7FF00000u) == 0u) {
    bits = unpackDouble2x32(x * 18014398509481984.0LF);
    n = -54;
  }
  n += int((bits.y >> 20) & 0x7FFu) - 1023;
  double m = packDouble2x32(uvec2(bits.x, (bits.y & 0x000FFFFFu) | 0x3FF00000u));
  if (m > 1.41421356237309504880LF) {
    m *= 0.5LF;
    n += 1;
  }
  const double s = (m - 1.0LF) / (m + 1.0LF), z = s * s;
  double sum = 0.0LF;
  for (int k = 25; k > 0; k -= 2) sum = sum * z + 1.0LF / double(k);
  return double(n) * 1.90821492927058770002e-10LF + 2.0LF * s * sum + double(n) * 0.693147180369123816490LF;
}

#ifndef INLINED
bool is_finite(double x) { return (unpackDouble2x32(x).y & 0x7FF00000u) != 0x7FF00000u; }

double double_exponential_minus_one(double x) {
  if (abs(x) > 0.5LF) return double_exponential(x) - 1.0LF;
  double sum = 0.0LF;
  for (int k = 15; k > 0; --k) sum = (1.0LF + sum) * x / double(k);
  return sum;
}

// log(1 + x): what 1 + x loses is made good (Kahan).
double double_logarithm_of_one_plus(double x) {
  precise const double sum = 1.0LF + x;
  if (sum == 1.0LF || !is_finite(sum)) return x;
  precise const double taken = sum - 1.0LF;
  return double_logarithm(sum) * (x / taken);
}

// By cases as float32's.
double double_power(double x, double y) {
  const double not_a_number = packDouble2x32(uvec2(0u, 0x7FF80000u)), infinity = packDouble2x32(uvec2(0u, 0x7FF00000u));
  if (y == 0.0LF || x == 1.0LF) return 1.0LF;
  if (is_not_a_number(x) || is_not_a_number(y)) return not_a_number;
  const double size = abs(x);
  const bool whole = floor(y) == y, odd = whole && floor(0.5LF * y) * 2.0LF != y;
  double magnitude;
  if (size == 0.0LF || is_infinity(x) || is_infinity(y)) {
    magnitude = size == 1.0LF ? 1.0LF : (size > 1.0LF) == (y > 0.0LF) ? infinity : 0.0LF;
  } else {
    if (x < 0.0LF && !whole) return not_a_number;
    magnitude = double_exponential(y * double_logarithm(size));
  }
  return odd ? with_sign_of(magnitude, x) : magnitude;
}

// As float32's, with two words of the significand and to 126 bits behind the point.
double reduce_far_angle(double x, out int quarter) {
  const uvec2 bits = unpackDouble2x32(x);
  const uint exponent = (bits.y >> 20) & 0x7FFu, first = exponent - 1024u;
  quarter = 0;
  if (exponent == 0x7FFu) return packDouble2x32(uvec2(0u, 0x7FF80000u));
  const uint64_t upper = uint64_t((bits.y << 11) | (bits.x >> 21) | 0x80000000u), lower = uint64_t(bits.x << 11);
  const uint64_t word = uint64_t(0xFFFFFFFFu);
  // The last four words of six.
  uint64_t high = uint64_t(0), low = uint64_t(0), carry = uint64_t(0), factor = uint64_t(0);
  for (uint i = 0u; i < 6u; ++i) {
    const uint64_t by_upper = upper * factor;
    factor = uint64_t(two_over_pi(first + 160u - 32u * i));
    const uint64_t by_lower = lower * factor;
    carry += (by_upper & word) + (by_lower & word);
    low = (low >> 32) | (high << 32);
    high = (high >> 32) | (carry << 32);
    carry = (carry >> 32) + (by_upper >> 32) + (by_lower >> 32);
  }
  const uint nearest = uint((high + (uint64_t(1) << 61)) >> 62);
  high -= uint64_t(nearest) << 62;
  const bool below = (high >> 63) != uint64_t(0), negative = x < 0.0LF;
  if (below) {
    low = ~low + uint64_t(1);
    high = ~high + uint64_t(low == uint64_t(0) ? 1 : 0);
  }
  quarter = negative ? -int(nearest) : int(nearest);
  // Of 2^-126 * pi/2.
  const double size = (double(high) * 18446744073709551616.0LF + double(low)) * 1.8464622084398007e-38LF;
  return below != negative ? -size : size;
}

// pi/2 in three parts, as in fdlibm, of which the first two are exact up to 2^20.
double reduce_angle(double x, out int quarter) {
  if (!(abs(x) < 1048576.0LF)) return reduce_far_angle(x, quarter);
  const double n = round_half_even(x * 0.63661977236758134308LF);
  quarter = int(n);
  return ((x - n * 1.57079632673412561417LF) - n * 6.07710050630396597660e-11LF) - n * 2.02226624879595063154e-21LF;
}

double double_sine_of_quarter(double x, int quarter) {
  const double z = x * x;
  const bool even = (quarter & 1) != 0;
  double sum = 1.0LF;
  for (int k = even ? 20 : 21; k > 1; k -= 2) sum = 1.0LF - sum * z / double(k * (k - 1));
  const double value = even ? sum : sum * x;
  return (quarter & 2) != 0 ? -value : value;
}

double double_sine(double x) {
  int quarter;
  const double angle = reduce_angle(x, quarter);
  return double_sine_of_quarter(angle, quarter);
}

double double_cosine(double x) {
  int quarter;
  const double angle = reduce_angle(x, quarter);
  return double_sine_of_quarter(angle, quarter + 1);
}

double double_tangent(double x) {
  int quarter;
  const double angle = reduce_angle(x, quarter);
  return double_sine_of_quarter(angle, quarter) / double_sine_of_quarter(angle, quarter + 1);
}

const double HALF_PI = 1.57079632679489661923LF;

// The angle is halved twice, then its series is short.
double double_arctangent(double x) {
  const double size = abs(x);
  double t = size > 1.0LF ? 1.0LF / size : size;
  t = t / (1.0LF + sqrt(1.0LF + t * t));
  t = t / (1.0LF + sqrt(1.0LF + t * t));
  const double z = t * t;
  double sum = 0.0LF;
  for (int k = 25; k > 0; k -= 2) sum = 1.0LF / double(k) - sum * z;
  const double angle = 4.0LF * t * sum, whole = size > 1.0LF ? HALF_PI - angle : angle;
  return isnan(x) ? x : x < 0.0LF ? -whole : whole;
}

double double_arcsine(double x) { return 2.0LF * double_arctangent(x / (1.0LF + sqrt(1.0LF - x * x))); }

double double_arccosine(double x) {
  return x == -1.0LF ? 2.0LF * HALF_PI : 2.0LF * double_arctangent(sqrt((1.0LF - x) / (1.0LF + x)));
}

double double_hyperbolic_sine(double x) {
  const double minus_one = double_exponential_minus_one(abs(x));
  const double value = is_finite(minus_one) ? 0.5LF * (minus_one + minus_one / (minus_one + 1.0LF)) : minus_one;
  return x < 0.0LF ? -value : value;
}

double double_hyperbolic_cosine(double x) {
  const double e = double_exponential(abs(x));
  return 0.5LF * (e + 1.0LF / e);
}

double double_hyperbolic_tangent(double x) {
  if (isnan(x)) return x;
  const double minus_one = double_exponential_minus_one(2.0LF * abs(x));
  const double value = is_finite(minus_one) ? minus_one / (minus_one + 2.0LF) : 1.0LF;
  return x < 0.0LF ? -value : value;
}

double double_inverse_hyperbolic_sine(double x) {
  const double size = abs(x);
  const double value = size > 1e8LF ? double_logarithm(size) + 0.69314718055994530942LF
                                    : double_logarithm_of_one_plus(size + size * size / (1.0LF + sqrt(1.0LF + size * size)));
  return x < 0.0LF ? -value : value;
}

double double_inverse_hyperbolic_cosine(double x) {
  const double t = x - 1.0LF;
  return x > 1e8LF ? double_logarithm(x) + 0.69314718055994530942LF
                   : double_logarithm_of_one_plus(t + sqrt(2.0LF * t + t * t));
}

double double_inverse_hyperbolic_tangent(double x) {
  const double size = abs(x), value = 0.5LF * double_logarithm_of_one_plus(2.0LF * size / (1.0LF - size));
  return x < 0.0LF ? -value : value;
}

// The series whose terms are all positive: erf x = 2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!
double double_error_function(double x) {
  const double size = min(abs(x), 6.0LF);
  if (isnan(x)) return x;
  double term = size, sum = size;
  for (int n = 1; n < 120; ++n) {
    term *= 2.0LF * size * size / double(2 * n + 1);
    sum += term;
  }
  const double value = min(1.12837916709551257390LF * double_exponential(-size * size) * sum, 1.0LF);
  return x < 0.0LF ? -value : value;
}

double double_logistic(double x) { return 1.0LF / (1.0LF + double_exponential(-x)); }

double double_softplus(double x) {
  return isnan(x) ? x : max(x, 0.0LF) + double_logarithm_of_one_plus(double_exponential(-abs(x)));
}

uint64_t double_bits(double x) { return packUint2x32(unpackDouble2x32(x)); }
double double_of_bits(uint64_t bits) { return packDouble2x32(unpackUint2x32(bits)); }
int highest_bit(uint64_t bits) {
  const uvec2 words = unpackUint2x32(bits);
  return words.y != 0u ? 32 + findMSB(words.y) : findMSB(words.x);
}

const uint64_t DOUBLE_UNIT = uint64_t(1) << 52;

// As exact_remainder in float32: significands in [2^52, 2^53), 40 bits of the quotient at a time, modulo 2^64.
uint64_t double_significand_of(uint64_t bits, out int exponent) {
  const int lift = max(52 - highest_bit(bits), 0);
  exponent = max(int(bits >> 52), 1) - lift;
  return lift > 0 ? bits << lift : (bits & (DOUBLE_UNIT - uint64_t(1))) | DOUBLE_UNIT;
}

double double_remainder(double x, double y) {
  const uint64_t sign = double_bits(x) & (uint64_t(1) << 63), infinity = uint64_t(0x7FF) << 52;
  const uint64_t dividend = double_bits(x) ^ sign, divisor = double_bits(y) & ~(uint64_t(1) << 63);
  if (dividend >= infinity || divisor > infinity || divisor == uint64_t(0)) return double_of_bits(uint64_t(0x7FF8) << 48);
  if (dividend < divisor) return x;
  int exponent, unit;
  uint64_t rest = double_significand_of(dividend, exponent);
  const uint64_t whole = double_significand_of(divisor, unit);
  const double inverse = 1.0LF / double(whole);
  rest = rest >= whole ? rest - whole : rest;
  for (int left = exponent - unit; left > 0; left -= 40) {
    const int bits = min(left, 40);
    const double share = double(rest) * double(uint64_t(1) << bits) * inverse;
    const int64_t next = int64_t((rest << bits) - uint64_t(share) * whole);
    rest = next < int64_t(0) ? uint64_t(next) + whole : uint64_t(next) >= whole ? uint64_t(next) - whole : uint64_t(next);
  }
  if (rest == uint64_t(0)) return double_of_bits(sign);
  const int lift = 52 - highest_bit(rest);
  unit -= lift;
  rest <<= lift;
  return double_of_bits(sign | (unit > 0 ? (uint64_t(unit - 1) << 52) + rest : rest >> (1 - unit)));
}

double double_modulo(double x, double y) {
  const double rest = double_remainder(x, y);
  const uint64_t bits = double_bits(rest), sign = uint64_t(1) << 63;
  if ((bits & ~sign) == uint64_t(0)) return double_of_bits(double_bits(y) & sign);
  return ((bits ^ double_bits(y)) & sign) != uint64_t(0) ? rest + y : rest;
}
#endif

#endif
