// The order of elements in registers: -1, 0 or 1 as register `a` holds the smaller, an equal, or the larger one. What is
// not a number is equal to itself and larger than the rest.
#ifndef LAPILLI_ORDER
#define LAPILLI_ORDER

int order_of(uint dtype, uint a, uint b) {
  if (is_real(dtype)) {
    const bool a_nan = is_not_a_number(reals[a]), b_nan = is_not_a_number(reals[b]);
    if (a_nan || b_nan) return int(a_nan) - int(b_nan);
    return reals[a] < reals[b] ? -1 : reals[b] < reals[a] ? 1 : 0;
  }
#if LEVEL >= 3
  if (dtype == FLOAT64) {
    const bool a_nan = isnan(doubles[a]), b_nan = isnan(doubles[b]);
    if (a_nan || b_nan) return int(a_nan) - int(b_nan);
    return doubles[a] < doubles[b] ? -1 : doubles[b] < doubles[a] ? 1 : 0;
  }
#endif
  const bool natural = is_unsigned(dtype);
  return integer_less(natural, integers[a], integers[b]) ? -1 : integer_less(natural, integers[b], integers[a]) ? 1 : 0;
}

#endif
