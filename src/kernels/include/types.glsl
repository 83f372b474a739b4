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

bool is_real(uint dtype) { return dtype == FLOAT32 || dtype == FLOAT16 || dtype == BFLOAT16; }
bool is_unsigned(uint dtype) { return dtype >= UINT8 && dtype <= UINT64; }

// The integer as a type of fewer bits keeps it.
INTEGER narrow(uint dtype, INTEGER value) {
  switch (dtype) {
    case INT8: return INTEGER(bitfieldExtract(int(value), 0, 8));
    case INT16: return INTEGER(bitfieldExtract(int(value), 0, 16));
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
