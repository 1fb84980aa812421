//go:build !purego

#include "textflag.h"
#include "avx512_amd64.h"

// func sumFloat32AVX512(dst, acc, in *byte, n int)
TEXT ·sumFloat32AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Float32)

// func prodFloat32AVX512(dst, acc, in *byte, n int)
TEXT ·prodFloat32AVX512(SB), NOSPLIT, $0-32
	LOOP(MUL_Float32)

// func maxFloat32AVX512(dst, acc, in *byte, n int)
TEXT ·maxFloat32AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Float32)

// func minFloat32AVX512(dst, acc, in *byte, n int)
TEXT ·minFloat32AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Float32)

// func sumFloat64AVX512(dst, acc, in *byte, n int)
TEXT ·sumFloat64AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Float64)

// func prodFloat64AVX512(dst, acc, in *byte, n int)
TEXT ·prodFloat64AVX512(SB), NOSPLIT, $0-32
	LOOP(MUL_Float64)

// func maxFloat64AVX512(dst, acc, in *byte, n int)
TEXT ·maxFloat64AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Float64)

// func minFloat64AVX512(dst, acc, in *byte, n int)
TEXT ·minFloat64AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Float64)

// func sumInt8AVX512(dst, acc, in *byte, n int)
TEXT ·sumInt8AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Int8)

// func maxInt8AVX512(dst, acc, in *byte, n int)
TEXT ·maxInt8AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Int8)

// func minInt8AVX512(dst, acc, in *byte, n int)
TEXT ·minInt8AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Int8)

// func maxUint8AVX512(dst, acc, in *byte, n int)
TEXT ·maxUint8AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint8)

// func minUint8AVX512(dst, acc, in *byte, n int)
TEXT ·minUint8AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint8)

// func sumInt16AVX512(dst, acc, in *byte, n int)
TEXT ·sumInt16AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Int16)

// func prodInt16AVX512(dst, acc, in *byte, n int)
TEXT ·prodInt16AVX512(SB), NOSPLIT, $0-32
	LOOP(MUL_Int16)

// func maxInt16AVX512(dst, acc, in *byte, n int)
TEXT ·maxInt16AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Int16)

// func minInt16AVX512(dst, acc, in *byte, n int)
TEXT ·minInt16AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Int16)

// func maxUint16AVX512(dst, acc, in *byte, n int)
TEXT ·maxUint16AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint16)

// func minUint16AVX512(dst, acc, in *byte, n int)
TEXT ·minUint16AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint16)

// func sumInt32AVX512(dst, acc, in *byte, n int)
TEXT ·sumInt32AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Int32)

// func prodInt32AVX512(dst, acc, in *byte, n int)
TEXT ·prodInt32AVX512(SB), NOSPLIT, $0-32
	LOOP(MUL_Int32)

// func maxInt32AVX512(dst, acc, in *byte, n int)
TEXT ·maxInt32AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Int32)

// func minInt32AVX512(dst, acc, in *byte, n int)
TEXT ·minInt32AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Int32)

// func maxUint32AVX512(dst, acc, in *byte, n int)
TEXT ·maxUint32AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint32)

// func minUint32AVX512(dst, acc, in *byte, n int)
TEXT ·minUint32AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint32)

// func sumInt64AVX512(dst, acc, in *byte, n int)
TEXT ·sumInt64AVX512(SB), NOSPLIT, $0-32
	LOOP(ADD_Int64)

// func prodInt64AVX512(dst, acc, in *byte, n int)
TEXT ·prodInt64AVX512(SB), NOSPLIT, $0-32
	LOOP(MUL_Int64)

// func maxInt64AVX512(dst, acc, in *byte, n int)
TEXT ·maxInt64AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Int64)

// func minInt64AVX512(dst, acc, in *byte, n int)
TEXT ·minInt64AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Int64)

// func maxUint64AVX512(dst, acc, in *byte, n int)
TEXT ·maxUint64AVX512(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint64)

// func minUint64AVX512(dst, acc, in *byte, n int)
TEXT ·minUint64AVX512(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint64)

// func andAVX512(dst, acc, in *byte, n int)
TEXT ·andAVX512(SB), NOSPLIT, $0-32
	LOOP(AND)

// func orAVX512(dst, acc, in *byte, n int)
TEXT ·orAVX512(SB), NOSPLIT, $0-32
	LOOP(OR)

// func xorAVX512(dst, acc, in *byte, n int)
TEXT ·xorAVX512(SB), NOSPLIT, $0-32
	LOOP(XOR)
