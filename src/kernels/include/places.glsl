// Places along chosen axes that are read from indices. In the parameters, from PLACES_AT on: the distance between the
// indices of a tuple; for each chosen axis its extent and its stride. The includer declares PLACES_AT, CHOSEN_AXES and
// INDEX_DTYPE and has an operand `index`.
#ifndef LAPILLI_PLACES
#define LAPILLI_PLACES

const uint INDEX_REGISTER = 7u;  // no input of an epilogue

// The place that an index says; one out of range says the nearest place.
uint place(INTEGER index, uint extent) {
  const INTEGER from_start = index < INTEGER(0) ? index + INTEGER(extent) : index;
  return uint(clamp(from_start, INTEGER(0), INTEGER(max(extent, 1u) - 1u)));
}

// How far the tuple at `index` moves an operand.
uint chosen_offset(uint index) {
  uint offset = 0u;
  for (uint i = 0u; i < CHOSEN_AXES; ++i) {
    const uint at = PLACES_AT + 1u + 2u * i;
    load_index(INDEX_DTYPE, index, INDEX_REGISTER);
    offset += place(integers[INDEX_REGISTER], parameter(at)) * parameter(at + 1u);
    index += parameter(PLACES_AT);
  }
  return offset;
}

#endif
