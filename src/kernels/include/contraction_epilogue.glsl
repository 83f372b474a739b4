// The end of a contraction: VECTOR neighbouring sums of one row go through the chain and are stored. Where operands
// have their columns side by side and aligned, loads and stores are vectors. To be included after the operands `out`
// and 1 to 3 and contraction_loops.glsl.
#ifndef LAPILLI_CONTRACTION_EPILOGUE
#define LAPILLI_CONTRACTION_EPILOGUE

#if LEVEL >= 1
#define EPILOGUE_VECTORS(access, n, slot)                                            \
  layout(binding = slot) access buffer F32x4_##n { vec4 f32x4_##n[]; };              \
  layout(binding = slot) access buffer F16x4_##n { f16vec4 f16x4_##n[]; };
#define EPILOGUE_VECTOR(n, at) (epilogue_dtype(n) == FLOAT16 ? vec4(f16x4_##n[at]) : f32x4_##n[at])
#else
#define EPILOGUE_VECTORS(access, n, slot) layout(binding = slot) access buffer F32x4_##n { vec4 f32x4_##n[]; };
#define EPILOGUE_VECTOR(n, at) f32x4_##n[at]
#endif
EPILOGUE_VECTORS(writeonly restrict, out, 1)
EPILOGUE_VECTORS(readonly restrict, 1, 4)
EPILOGUE_VECTORS(readonly restrict, 2, 5)
EPILOGUE_VECTORS(readonly restrict, 3, 6)

const uint PARTS = VECTOR / 4u;

uint epilogue_dtype(uint i) { return (EPILOGUE_DTYPES >> (8u * (i - 1u))) & 0xFFu; }

// VECTOR_OPERANDS: bit 0 for the output, bit i for operand i.
bool is_vector(uint i) { return (VECTOR_OPERANDS & (1u << i)) != 0u; }

struct EpilogueRow {
  uint output_at, operand_at[3];
};

// find_batch and find_row have been called.
EpilogueRow epilogue_row() {
  EpilogueRow row;
  row.output_at = batch_start(OUTPUT_AT) + row_offset(OUTPUT_AT);
  [[unroll]] for (uint i = 0u; i < 3u; ++i) {
    if (i >= EPILOGUE_INPUTS) continue;
    const uint operand = EPILOGUE_AT + ELEMENT_WORDS * i;
    row.operand_at[i] = batch_start(operand) + row_offset(operand);
  }
  return row;
}

#define LOAD_EPILOGUE_VECTOR(i)                                                       \
  if (EPILOGUE_INPUTS >= i && is_vector(i)) {                                         \
    const uint first = (row.operand_at[i - 1u] + column) >> 2;                        \
    [[unroll]] for (uint v = 0u; v < PARTS; ++v) {                              \
      loaded[i - 1u][v] = EPILOGUE_VECTOR(i, first + v);                              \
    }                                                                                 \
  }

#define LOAD_EPILOGUE(i)                                                              \
  if (EPILOGUE_INPUTS >= i) {                                                         \
    if (is_vector(i)) {                                                               \
      reals[i] = loaded[i - 1u][j >> 2][j & 3u];                                      \
    } else {                                                                          \
      load_##i(epilogue_dtype(i),                                                     \
               row.operand_at[i - 1u] + (column + j) * column_stride(EPILOGUE_AT + ELEMENT_WORDS * (i - 1u)), i); \
    }                                                                                 \
  }

void finish_vector(EpilogueRow row, uint column, uint columns, vec4 values[PARTS]) {
  vec4 loaded[3][PARTS];
  LOAD_EPILOGUE_VECTOR(1)
  LOAD_EPILOGUE_VECTOR(2)
  LOAD_EPILOGUE_VECTOR(3)
  const uint result = FIRST_STEP + CHAIN_STEPS - 1u;
  [[unroll]] for (uint j = 0u; j < VECTOR; ++j) {
    if (column + j >= columns) continue;
    reals[0] = values[j >> 2][j & 3u];
    LOAD_EPILOGUE(1)
    LOAD_EPILOGUE(2)
    LOAD_EPILOGUE(3)
    run_chain();
    convert_result(result, OUTPUT_DTYPE);
    if (is_vector(0u)) {
      values[j >> 2][j & 3u] = reals[result];
    } else {
      store_out(OUTPUT_DTYPE, row.output_at + (column + j) * column_stride(OUTPUT_AT), result);
    }
  }
  if (!is_vector(0u)) return;
  const uint first = (row.output_at + column) >> 2;
  [[unroll]] for (uint v = 0u; v < PARTS; ++v) {
#if LEVEL >= 1
    if (OUTPUT_DTYPE == FLOAT16) f16x4_out[first + v] = f16vec4(values[v]);
#endif
    if (OUTPUT_DTYPE != FLOAT16) f32x4_out[first + v] = values[v];
  }
}

#endif
