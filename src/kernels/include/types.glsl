// Element types by capability level (LEVEL, set by the build), and their numbers, those of lapilli::DType.
#ifndef LAPILLI_TYPES
#define LAPILLI_TYPES

// Types of 8 and 16 bits are loaded, stored and converted, which needs no arithmetic of the device in them.
#if LEVEL >= 1
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#endif
#if LEVEL >= 2
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

const uint FLOAT32 = 1u, FLOAT16 = 2u, BFLOAT16 = 3u, FLOAT64 = 4u;
const uint INT8 = 5u, INT16 = 6u, INT32 = 7u, INT64 = 8u;
const uint UINT8 = 9u, UINT16 = 10u, UINT32 = 11u, UINT64 = 12u, BOOL = 13u;
const uint INT4 = 15u, UINT4 = 16u;  // types of fewer than 8 bits lie one element a byte
const uint FLOAT8E4M3FN = 17u, FLOAT8E4M3FNUZ = 18u, FLOAT8E5M2 = 19u, FLOAT8E5M2FNUZ = 20u, FLOAT4E2M1 = 21u;
const uint FLOAT8E8M0 = 22u, INT2 = 23u, UINT2 = 24u, FLOAT6E2M3 = 25u, FLOAT6E3M2 = 26u;

// The registers of integers: as wide as the level allows.
#if LEVEL >= 2
#define INTEGER int64_t
#define UNSIGNED uint64_t
const int INTEGER_BITS = 64;
#else
#define INTEGER int
#define UNSIGNED uint
const int INTEGER_BITS = 32;
#endif

// What sums and functions are computed in, whatever the elements are stored as.
#if LEVEL >= 3
#define REAL double
#else
#define REAL float
#endif

// Kernels that are inlined before they are embedded go without: each of their steps would have a copy of the conversions.
#if LEVEL >= 1 && !defined(INLINED)
#define SMALL_FLOATS
#endif

bool is_small_float(uint dtype) {
#ifndef SMALL_FLOATS
  return false;
#endif
  return (dtype >= FLOAT8E4M3FN && dtype <= FLOAT8E8M0) || dtype == FLOAT6E2M3 || dtype == FLOAT6E3M2;
}
bool is_real(uint dtype) {
  return dtype == FLOAT32 || dtype == FLOAT16 || dtype == BFLOAT16 || is_small_float(dtype);
}
bool is_floating(uint dtype) { return is_real(dtype) || dtype == FLOAT64; }
bool is_unsigned(uint dtype) { return (dtype >= UINT8 && dtype <= UINT64) || dtype == UINT4 || dtype == UINT2; }

// The integer as a type of fewer bits keeps it.
INTEGER narrow(uint dtype, INTEGER value) {
  switch (dtype) {
    case INT2: return INTEGER(bitfieldExtract(int(value), 0, 2));
    case INT4: return INTEGER(bitfieldExtract(int(value), 0, 4));
    case INT8: return INTEGER(bitfieldExtract(int(value), 0, 8));
    case INT16: return INTEGER(bitfieldExtract(int(value), 0, 16));
    case UINT2: return INTEGER(uint(value) & 3u);
    case UINT4: return INTEGER(uint(value) & 15u);
    case UINT8: return INTEGER(uint(value) & 0xFFu);
    case UINT16: return INTEGER(uint(value) & 0xFFFFu);
    case BOOL: return value != INTEGER(0) ? INTEGER(1) : INTEGER(0);
#if LEVEL >= 2
    case INT32: return INTEGER(int(value));
    case UINT32: return INTEGER(uint(value));
#endif
  }
  return value;
}

#endif
