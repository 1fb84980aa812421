//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// func sumFloat32NEON(dst, acc, in *byte, n int)
TEXT ·sumFloat32NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Float32)

// func prodFloat32NEON(dst, acc, in *byte, n int)
TEXT ·prodFloat32NEON(SB), NOSPLIT, $0-32
	LOOP(MUL_Float32)

// func maxFloat32NEON(dst, acc, in *byte, n int)
TEXT ·maxFloat32NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Float32)

// func minFloat32NEON(dst, acc, in *byte, n int)
TEXT ·minFloat32NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Float32)

// func sumFloat64NEON(dst, acc, in *byte, n int)
TEXT ·sumFloat64NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Float64)

// func prodFloat64NEON(dst, acc, in *byte, n int)
TEXT ·prodFloat64NEON(SB), NOSPLIT, $0-32
	LOOP(MUL_Float64)

// func maxFloat64NEON(dst, acc, in *byte, n int)
TEXT ·maxFloat64NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Float64)

// func minFloat64NEON(dst, acc, in *byte, n int)
TEXT ·minFloat64NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Float64)

// func sumInt8NEON(dst, acc, in *byte, n int)
TEXT ·sumInt8NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Int8)

// func prodInt8NEON(dst, acc, in *byte, n int)
TEXT ·prodInt8NEON(SB), NOSPLIT, $0-32
	LOOP(MUL_Int8)

// func maxInt8NEON(dst, acc, in *byte, n int)
TEXT ·maxInt8NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Int8)

// func minInt8NEON(dst, acc, in *byte, n int)
TEXT ·minInt8NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Int8)

// func maxUint8NEON(dst, acc, in *byte, n int)
TEXT ·maxUint8NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint8)

// func minUint8NEON(dst, acc, in *byte, n int)
TEXT ·minUint8NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint8)

// func sumInt16NEON(dst, acc, in *byte, n int)
TEXT ·sumInt16NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Int16)

// func prodInt16NEON(dst, acc, in *byte, n int)
TEXT ·prodInt16NEON(SB), NOSPLIT, $0-32
	LOOP(MUL_Int16)

// func maxInt16NEON(dst, acc, in *byte, n int)
TEXT ·maxInt16NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Int16)

// func minInt16NEON(dst, acc, in *byte, n int)
TEXT ·minInt16NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Int16)

// func maxUint16NEON(dst, acc, in *byte, n int)
TEXT ·maxUint16NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint16)

// func minUint16NEON(dst, acc, in *byte, n int)
TEXT ·minUint16NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint16)

// func sumInt32NEON(dst, acc, in *byte, n int)
TEXT ·sumInt32NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Int32)

// func prodInt32NEON(dst, acc, in *byte, n int)
TEXT ·prodInt32NEON(SB), NOSPLIT, $0-32
	LOOP(MUL_Int32)

// func maxInt32NEON(dst, acc, in *byte, n int)
TEXT ·maxInt32NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Int32)

// func minInt32NEON(dst, acc, in *byte, n int)
TEXT ·minInt32NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Int32)

// func maxUint32NEON(dst, acc, in *byte, n int)
TEXT ·maxUint32NEON(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint32)

// func minUint32NEON(dst, acc, in *byte, n int)
TEXT ·minUint32NEON(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint32)

// func sumInt64NEON(dst, acc, in *byte, n int)
TEXT ·sumInt64NEON(SB), NOSPLIT, $0-32
	LOOP(ADD_Int64)

// func andNEON(dst, acc, in *byte, n int)
TEXT ·andNEON(SB), NOSPLIT, $0-32
	LOOP(AND)

// func orNEON(dst, acc, in *byte, n int)
TEXT ·orNEON(SB), NOSPLIT, $0-32
	LOOP(OR)

// func xorNEON(dst, acc, in *byte, n int)
TEXT ·xorNEON(SB), NOSPLIT, $0-32
	LOOP(XOR)
