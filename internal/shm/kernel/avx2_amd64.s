//go:build !purego

#include "textflag.h"
#include "avx2_amd64.h"

// func sumFloat32AVX2(dst, acc, in *byte, n int)
TEXT ·sumFloat32AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Float32)

// func prodFloat32AVX2(dst, acc, in *byte, n int)
TEXT ·prodFloat32AVX2(SB), NOSPLIT, $0-32
	LOOP(MUL_Float32)

// func maxFloat32AVX2(dst, acc, in *byte, n int)
TEXT ·maxFloat32AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Float32)

// func minFloat32AVX2(dst, acc, in *byte, n int)
TEXT ·minFloat32AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Float32)

// func sumFloat64AVX2(dst, acc, in *byte, n int)
TEXT ·sumFloat64AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Float64)

// func prodFloat64AVX2(dst, acc, in *byte, n int)
TEXT ·prodFloat64AVX2(SB), NOSPLIT, $0-32
	LOOP(MUL_Float64)

// func maxFloat64AVX2(dst, acc, in *byte, n int)
TEXT ·maxFloat64AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Float64)

// func minFloat64AVX2(dst, acc, in *byte, n int)
TEXT ·minFloat64AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Float64)

// func sumInt8AVX2(dst, acc, in *byte, n int)
TEXT ·sumInt8AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Int8)

// func maxInt8AVX2(dst, acc, in *byte, n int)
TEXT ·maxInt8AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Int8)

// func minInt8AVX2(dst, acc, in *byte, n int)
TEXT ·minInt8AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Int8)

// func maxUint8AVX2(dst, acc, in *byte, n int)
TEXT ·maxUint8AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint8)

// func minUint8AVX2(dst, acc, in *byte, n int)
TEXT ·minUint8AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint8)

// func sumInt16AVX2(dst, acc, in *byte, n int)
TEXT ·sumInt16AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Int16)

// func prodInt16AVX2(dst, acc, in *byte, n int)
TEXT ·prodInt16AVX2(SB), NOSPLIT, $0-32
	LOOP(MUL_Int16)

// func maxInt16AVX2(dst, acc, in *byte, n int)
TEXT ·maxInt16AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Int16)

// func minInt16AVX2(dst, acc, in *byte, n int)
TEXT ·minInt16AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Int16)

// func maxUint16AVX2(dst, acc, in *byte, n int)
TEXT ·maxUint16AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint16)

// func minUint16AVX2(dst, acc, in *byte, n int)
TEXT ·minUint16AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint16)

// func sumInt32AVX2(dst, acc, in *byte, n int)
TEXT ·sumInt32AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Int32)

// func prodInt32AVX2(dst, acc, in *byte, n int)
TEXT ·prodInt32AVX2(SB), NOSPLIT, $0-32
	LOOP(MUL_Int32)

// func maxInt32AVX2(dst, acc, in *byte, n int)
TEXT ·maxInt32AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Int32)

// func minInt32AVX2(dst, acc, in *byte, n int)
TEXT ·minInt32AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Int32)

// func maxUint32AVX2(dst, acc, in *byte, n int)
TEXT ·maxUint32AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Uint32)

// func minUint32AVX2(dst, acc, in *byte, n int)
TEXT ·minUint32AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Uint32)

// func sumInt64AVX2(dst, acc, in *byte, n int)
TEXT ·sumInt64AVX2(SB), NOSPLIT, $0-32
	LOOP(ADD_Int64)

// func maxInt64AVX2(dst, acc, in *byte, n int)
TEXT ·maxInt64AVX2(SB), NOSPLIT, $0-32
	LOOP(MAX_Int64)

// func minInt64AVX2(dst, acc, in *byte, n int)
TEXT ·minInt64AVX2(SB), NOSPLIT, $0-32
	LOOP(MIN_Int64)

// func maxUint64AVX2(dst, acc, in *byte, n int)
TEXT ·maxUint64AVX2(SB), NOSPLIT, $0-32
	SIGN_64
	LOOP(MAX_Uint64)

// func minUint64AVX2(dst, acc, in *byte, n int)
TEXT ·minUint64AVX2(SB), NOSPLIT, $0-32
	SIGN_64
	LOOP(MIN_Uint64)

// func andAVX2(dst, acc, in *byte, n int)
TEXT ·andAVX2(SB), NOSPLIT, $0-32
	LOOP(AND)

// func orAVX2(dst, acc, in *byte, n int)
TEXT ·orAVX2(SB), NOSPLIT, $0-32
	LOOP(OR)

// func xorAVX2(dst, acc, in *byte, n int)
TEXT ·xorAVX2(SB), NOSPLIT, $0-32
	LOOP(XOR)

// func both8AVX2(dst, acc, in *byte, n int)
TEXT ·both8AVX2(SB), NOSPLIT, $0-32
	TRUTH_8
	LOOP(BOTH_8)

// func either8AVX2(dst, acc, in *byte, n int)
TEXT ·either8AVX2(SB), NOSPLIT, $0-32
	TRUTH_8
	LOOP(EITHER_8)

// func odd8AVX2(dst, acc, in *byte, n int)
TEXT ·odd8AVX2(SB), NOSPLIT, $0-32
	TRUTH_8
	LOOP(ODD_8)

// func both16AVX2(dst, acc, in *byte, n int)
TEXT ·both16AVX2(SB), NOSPLIT, $0-32
	TRUTH_16
	LOOP(BOTH_16)

// func either16AVX2(dst, acc, in *byte, n int)
TEXT ·either16AVX2(SB), NOSPLIT, $0-32
	TRUTH_16
	LOOP(EITHER_16)

// func odd16AVX2(dst, acc, in *byte, n int)
TEXT ·odd16AVX2(SB), NOSPLIT, $0-32
	TRUTH_16
	LOOP(ODD_16)

// func both32AVX2(dst, acc, in *byte, n int)
TEXT ·both32AVX2(SB), NOSPLIT, $0-32
	TRUTH_32
	LOOP(BOTH_32)

// func either32AVX2(dst, acc, in *byte, n int)
TEXT ·either32AVX2(SB), NOSPLIT, $0-32
	TRUTH_32
	LOOP(EITHER_32)

// func odd32AVX2(dst, acc, in *byte, n int)
TEXT ·odd32AVX2(SB), NOSPLIT, $0-32
	TRUTH_32
	LOOP(ODD_32)

// func both64AVX2(dst, acc, in *byte, n int)
TEXT ·both64AVX2(SB), NOSPLIT, $0-32
	TRUTH_64
	LOOP(BOTH_64)

// func either64AVX2(dst, acc, in *byte, n int)
TEXT ·either64AVX2(SB), NOSPLIT, $0-32
	TRUTH_64
	LOOP(EITHER_64)

// func odd64AVX2(dst, acc, in *byte, n int)
TEXT ·odd64AVX2(SB), NOSPLIT, $0-32
	TRUTH_64
	LOOP(ODD_64)
