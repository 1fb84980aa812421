// LOOP combines n bytes: vectors of 64 bytes, four at a time while there are four,
// and at the end a masked one for what is left. Register use: Z0-Z3 elements of
// acc, Z4-Z7 of in, Z8-Z9 and K1 scratch of an operation, K2 the last bytes.
#define LOOP(OP) \
	MOVQ dst+0(FP), DI; \
	MOVQ acc+8(FP), DX; \
	MOVQ in+16(FP), SI; \
	MOVQ n+24(FP), CX; \
	SUBQ $256, CX; \
	JLT  rest; \
blocks: \
	VMOVDQU64 (DX), Z0; \
	VMOVDQU64 64(DX), Z1; \
	VMOVDQU64 128(DX), Z2; \
	VMOVDQU64 192(DX), Z3; \
	VMOVDQU64 (SI), Z4; \
	VMOVDQU64 64(SI), Z5; \
	VMOVDQU64 128(SI), Z6; \
	VMOVDQU64 192(SI), Z7; \
	OP(Z4, Z0); \
	OP(Z5, Z1); \
	OP(Z6, Z2); \
	OP(Z7, Z3); \
	VMOVDQU64 Z0, (DI); \
	VMOVDQU64 Z1, 64(DI); \
	VMOVDQU64 Z2, 128(DI); \
	VMOVDQU64 Z3, 192(DI); \
	ADDQ $256, DI; \
	ADDQ $256, DX; \
	ADDQ $256, SI; \
	SUBQ $256, CX; \
	JGE  blocks; \
rest: \
	ADDQ $(256-64), CX; \
	JLT  tail; \
vectors: \
	VMOVDQU64 (DX), Z0; \
	VMOVDQU64 (SI), Z4; \
	OP(Z4, Z0); \
	VMOVDQU64 Z0, (DI); \
	ADDQ $64, DI; \
	ADDQ $64, DX; \
	ADDQ $64, SI; \
	SUBQ $64, CX; \
	JGE  vectors; \
tail: \
	ADDQ  $64, CX; \
	JEQ   done; \
	MOVQ  $-1, AX; \
	BZHIQ CX, AX, AX; \
	KMOVQ AX, K2; \
	VMOVDQU8.Z (DX), K2, Z0; \
	VMOVDQU8.Z (SI), K2, Z4; \
	OP(Z4, Z0); \
	VMOVDQU8 Z0, K2, (DI); \
done: \
	VZEROUPPER; \
	RET

#define ADD_Float32(IN, ACC) VADDPS IN, ACC, ACC
#define ADD_Float64(IN, ACC) VADDPD IN, ACC, ACC
#define MUL_Float32(IN, ACC) VMULPS IN, ACC, ACC
#define MUL_Float64(IN, ACC) VMULPD IN, ACC, ACC

// As in AVX2: both orders, and-ed or or-ed for the sake of zeros. Where the two
// are unordered (predicate 3) the maximum is their sum, a NaN.
#define MAX_Float32(IN, ACC) \
	VCMPPS $3, IN, ACC, K1; \
	VMAXPS IN, ACC, Z8; \
	VMAXPS ACC, IN, Z9; \
	VANDPS Z8, Z9, Z8; \
	VADDPS IN, ACC, K1, Z8; \
	VMOVAPS Z8, ACC
#define MAX_Float64(IN, ACC) \
	VCMPPD $3, IN, ACC, K1; \
	VMAXPD IN, ACC, Z8; \
	VMAXPD ACC, IN, Z9; \
	VANDPD Z8, Z9, Z8; \
	VADDPD IN, ACC, K1, Z8; \
	VMOVAPD Z8, ACC
#define MIN_Float32(IN, ACC) \
	VMINPS IN, ACC, Z8; \
	VMINPS ACC, IN, ACC; \
	VORPS  Z8, ACC, ACC
#define MIN_Float64(IN, ACC) \
	VMINPD IN, ACC, Z8; \
	VMINPD ACC, IN, ACC; \
	VORPD  Z8, ACC, ACC

#define ADD_Int8(IN, ACC) VPADDB IN, ACC, ACC
#define ADD_Int16(IN, ACC) VPADDW IN, ACC, ACC
#define ADD_Int32(IN, ACC) VPADDD IN, ACC, ACC
#define ADD_Int64(IN, ACC) VPADDQ IN, ACC, ACC
#define MUL_Int16(IN, ACC) VPMULLW IN, ACC, ACC
#define MUL_Int32(IN, ACC) VPMULLD IN, ACC, ACC
#define MUL_Int64(IN, ACC) VPMULLQ IN, ACC, ACC

#define MAX_Int8(IN, ACC) VPMAXSB IN, ACC, ACC
#define MIN_Int8(IN, ACC) VPMINSB IN, ACC, ACC
#define MAX_Uint8(IN, ACC) VPMAXUB IN, ACC, ACC
#define MIN_Uint8(IN, ACC) VPMINUB IN, ACC, ACC
#define MAX_Int16(IN, ACC) VPMAXSW IN, ACC, ACC
#define MIN_Int16(IN, ACC) VPMINSW IN, ACC, ACC
#define MAX_Uint16(IN, ACC) VPMAXUW IN, ACC, ACC
#define MIN_Uint16(IN, ACC) VPMINUW IN, ACC, ACC
#define MAX_Int32(IN, ACC) VPMAXSD IN, ACC, ACC
#define MIN_Int32(IN, ACC) VPMINSD IN, ACC, ACC
#define MAX_Uint32(IN, ACC) VPMAXUD IN, ACC, ACC
#define MIN_Uint32(IN, ACC) VPMINUD IN, ACC, ACC
#define MAX_Int64(IN, ACC) VPMAXSQ IN, ACC, ACC
#define MIN_Int64(IN, ACC) VPMINSQ IN, ACC, ACC
#define MAX_Uint64(IN, ACC) VPMAXUQ IN, ACC, ACC
#define MIN_Uint64(IN, ACC) VPMINUQ IN, ACC, ACC

#define AND(IN, ACC) VPANDQ IN, ACC, ACC
#define OR(IN, ACC) VPORQ IN, ACC, ACC
#define XOR(IN, ACC) VPXORQ IN, ACC, ACC
