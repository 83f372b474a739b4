// Buffers of floating-point elements whose type is a specialization constant, for kernels that compute in REAL.
#ifndef LAPILLI_REAL_OPERANDS
#define LAPILLI_REAL_OPERANDS

#include "small_float.glsl"
#include "types.glsl"

#if LEVEL >= 1
#define HALF_VIEWS(access, n, slot)                                      \
  layout(binding = slot) access buffer F16_##n { float16_t f16_##n[]; }; \
  layout(binding = slot) access buffer U16_##n { uint16_t u16_##n[]; };
#define HALF_LOADS(n)                              \
    case FLOAT16: return REAL(f16_##n[index]);     \
    case BFLOAT16: return REAL(uintBitsToFloat(uint(u16_##n[index]) << 16));
#define HALF_STORES(n)                                     \
    case FLOAT16: f16_##n[index] = float16_t(x); break;    \
    case BFLOAT16: u16_##n[index] = uint16_t(bfloat16_bits(float(x))); break;
#else
#define HALF_VIEWS(access, n, slot)
#define HALF_LOADS(n)
#define HALF_STORES(n)
#endif

#if LEVEL >= 3
#define DOUBLE_VIEWS(access, n, slot) layout(binding = slot) access buffer F64_##n { double f64_##n[]; };
#define DOUBLE_LOADS(n) case FLOAT64: return f64_##n[index];
#define DOUBLE_STORES(n) case FLOAT64: f64_##n[index] = x; break;
#else
#define DOUBLE_VIEWS(access, n, slot)
#define DOUBLE_LOADS(n)
#define DOUBLE_STORES(n)
#endif

#define REAL_VIEWS(access, n, slot)                                    \
  layout(binding = slot) access buffer F32_##n { float f32_##n[]; };   \
  HALF_VIEWS(access, n, slot)                                          \
  DOUBLE_VIEWS(access, n, slot)

// real_N(dtype, index)
#define REAL_INPUT(n, slot)                     \
  REAL_VIEWS(readonly restrict, n, slot)        \
  REAL real_##n(uint dtype, uint index) {       \
    switch (dtype) {                            \
      HALF_LOADS(n)                             \
      DOUBLE_LOADS(n)                           \
    }                                           \
    return REAL(f32_##n[index]);                \
  }

// write_N(dtype, index, x)
#define REAL_OUTPUT(n, slot)                             \
  REAL_VIEWS(writeonly restrict, n, slot)                \
  void write_##n(uint dtype, uint index, REAL x) {       \
    switch (dtype) {                                     \
      case FLOAT32: f32_##n[index] = float(x); break;    \
      HALF_STORES(n)                                     \
      DOUBLE_STORES(n)                                   \
    }                                                    \
  }

#endif
