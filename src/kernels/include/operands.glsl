// Buffers whose element type is a specialization constant: one binding is declared once for each type, and loads and
// stores go through the one that the constant picks.
#ifndef LAPILLI_OPERANDS
#define LAPILLI_OPERANDS

#include "chain.glsl"

#ifdef SMALL_FLOATS
#define SMALL_FLOAT_LOADS(n) \
    default: if (is_small_float(dtype)) reals[to] = small_float_value(dtype, uint(u8_##n[index])); break;
#define SMALL_FLOAT_STORES(n) \
    default: if (is_small_float(dtype)) u8_##n[index] = uint8_t(small_float_code(dtype, reals[from], false)); break;
#else
#define SMALL_FLOAT_LOADS(n)
#define SMALL_FLOAT_STORES(n)
#endif

#if LEVEL >= 1
#define NARROW_VIEWS(access, n, slot)                                         \
  layout(binding = slot) access buffer F16_##n { float16_t f16_##n[]; };      \
  layout(binding = slot) access buffer S16_##n { int16_t s16_##n[]; };        \
  layout(binding = slot) access buffer U16_##n { uint16_t u16_##n[]; };       \
  layout(binding = slot) access buffer S8_##n { int8_t s8_##n[]; };           \
  layout(binding = slot) access buffer U8_##n { uint8_t u8_##n[]; };
#define NARROW_LOADS(n)                                                                          \
    case FLOAT16: reals[to] = float(f16_##n[index]); break;                                      \
    case BFLOAT16: reals[to] = uintBitsToFloat(uint(u16_##n[index]) << 16); break;               \
    case INT2:                                                                                   \
    case INT4:                                                                                   \
    case INT8: integers[to] = INTEGER(s8_##n[index]); break;                                     \
    case INT16: integers[to] = INTEGER(s16_##n[index]); break;                                   \
    case UINT2:                                                                                  \
    case UINT4:                                                                                  \
    case UINT8: integers[to] = INTEGER(u8_##n[index]); break;                                    \
    case UINT16: integers[to] = INTEGER(u16_##n[index]); break;                                  \
    case BOOL: integers[to] = uint(u8_##n[index]) != 0u ? INTEGER(1) : INTEGER(0); break;        \
    SMALL_FLOAT_LOADS(n)
#define NARROW_STORES(n)                                                                         \
    case FLOAT16: f16_##n[index] = float16_t(reals[from]); break;                                \
    case BFLOAT16: u16_##n[index] = uint16_t(bfloat16_bits(reals[from])); break;                 \
    case INT2:                                                                                   \
    case INT4:                                                                                   \
    case INT8: s8_##n[index] = int8_t(integers[from]); break;                                    \
    case INT16: s16_##n[index] = int16_t(integers[from]); break;                                 \
    case BOOL:                                                                                   \
    case UINT2:                                                                                  \
    case UINT4:                                                                                  \
    case UINT8: u8_##n[index] = uint8_t(integers[from]); break;                                  \
    case UINT16: u16_##n[index] = uint16_t(integers[from]); break;                               \
    SMALL_FLOAT_STORES(n)
#else
#define NARROW_VIEWS(access, n, slot)
#define NARROW_LOADS(n)
#define NARROW_STORES(n)
#endif

#if LEVEL >= 2
#define INT64_VIEWS(access, n, slot) layout(binding = slot) access buffer S64_##n { int64_t s64_##n[]; };
#define INT64_LOADS(n) case INT64: case UINT64: integers[to] = s64_##n[index]; break;
#define INT64_STORES(n) case INT64: case UINT64: s64_##n[index] = integers[from]; break;
#else
#define INT64_VIEWS(access, n, slot)
#define INT64_LOADS(n)
#define INT64_STORES(n)
#endif

#if LEVEL >= 3
#define FLOAT64_VIEWS(access, n, slot) layout(binding = slot) access buffer F64_##n { double f64_##n[]; };
#define FLOAT64_LOADS(n) case FLOAT64: doubles[to] = f64_##n[index]; break;
#define FLOAT64_STORES(n) case FLOAT64: f64_##n[index] = doubles[from]; break;
#else
#define FLOAT64_VIEWS(access, n, slot)
#define FLOAT64_LOADS(n)
#define FLOAT64_STORES(n)
#endif

#define VIEWS(access, n, slot)                                         \
  layout(binding = slot) access buffer F32_##n { float f32_##n[]; };   \
  layout(binding = slot) access buffer S32_##n { int s32_##n[]; };     \
  NARROW_VIEWS(access, n, slot)                                        \
  INT64_VIEWS(access, n, slot)                                         \
  FLOAT64_VIEWS(access, n, slot)

#define LOAD(n)                                                        \
  void load_##n(uint dtype, uint index, uint to) {                     \
    switch (dtype) {                                                   \
      case FLOAT32: reals[to] = f32_##n[index]; break;                 \
      case INT32: integers[to] = INTEGER(s32_##n[index]); break;       \
      case UINT32: integers[to] = INTEGER(uint(s32_##n[index])); break; \
      NARROW_LOADS(n)                                                  \
      INT64_LOADS(n)                                                   \
      FLOAT64_LOADS(n)                                                 \
    }                                                                  \
  }

#define STORE(n)                                                       \
  void store_##n(uint dtype, uint index, uint from) {                  \
    switch (dtype) {                                                   \
      case FLOAT32: f32_##n[index] = reals[from]; break;               \
      case INT32:                                                      \
      case UINT32: s32_##n[index] = int(integers[from]); break;        \
      NARROW_STORES(n)                                                 \
      INT64_STORES(n)                                                  \
      FLOAT64_STORES(n)                                                \
    }                                                                  \
  }

// A register of floating-point elements of a type.
REAL real_register(uint dtype, uint i) {
#if LEVEL >= 3
  return dtype == FLOAT64 ? doubles[i] : double(reals[i]);
#else
  return reals[i];
#endif
}

void set_real_register(uint dtype, uint i, REAL x) {
#if LEVEL >= 3
  if (dtype == FLOAT64) {
    doubles[i] = x;
    return;
  }
#endif
  reals[i] = float(x);
}

// load_N(dtype, index, register)
#define INPUT_OPERAND(n, slot)                                         \
  VIEWS(readonly restrict, n, slot)                                    \
  LOAD(n)

// store_N(dtype, index, register): the register holds what `dtype` is kept in.
#define OUTPUT_OPERAND(n, slot)                                        \
  VIEWS(writeonly restrict, n, slot)                                   \
  STORE(n)

// Both, for what is changed in its place.
#define UPDATED_OPERAND(n, slot)                                       \
  VIEWS(, n, slot)                                                     \
  LOAD(n)                                                              \
  STORE(n)

#endif
