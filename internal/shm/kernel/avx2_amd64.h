// LOOP combines whole vectors of 32 bytes, four at a time while there are four.
// Register use: Y0-Y3 elements of acc, Y4-Y7 of in, Y8-Y9 scratch of an operation,
// Y14-Y15 its constants, set before.
#define LOOP(OP) \
	MOVQ dst+0(FP), DI; \
	MOVQ acc+8(FP), DX; \
	MOVQ in+16(FP), SI; \
	MOVQ n+24(FP), CX; \
	SUBQ $128, CX; \
	JLT  rest; \
blocks: \
	VMOVDQU (DX), Y0; \
	VMOVDQU 32(DX), Y1; \
	VMOVDQU 64(DX), Y2; \
	VMOVDQU 96(DX), Y3; \
	VMOVDQU (SI), Y4; \
	VMOVDQU 32(SI), Y5; \
	VMOVDQU 64(SI), Y6; \
	VMOVDQU 96(SI), Y7; \
	OP(Y4, Y0); \
	OP(Y5, Y1); \
	OP(Y6, Y2); \
	OP(Y7, Y3); \
	VMOVDQU Y0, (DI); \
	VMOVDQU Y1, 32(DI); \
	VMOVDQU Y2, 64(DI); \
	VMOVDQU Y3, 96(DI); \
	ADDQ $128, DI; \
	ADDQ $128, DX; \
	ADDQ $128, SI; \
	SUBQ $128, CX; \
	JGE  blocks; \
rest: \
	ADDQ $128, CX; \
	JEQ  done; \
vectors: \
	VMOVDQU (DX), Y0; \
	VMOVDQU (SI), Y4; \
	OP(Y4, Y0); \
	VMOVDQU Y0, (DI); \
	ADDQ $32, DI; \
	ADDQ $32, DX; \
	ADDQ $32, SI; \
	SUBQ $32, CX; \
	JNE  vectors; \
done: \
	VZEROUPPER; \
	RET

#define ADD_Float32(IN, ACC) VADDPS IN, ACC, ACC
#define ADD_Float64(IN, ACC) VADDPD IN, ACC, ACC
#define MUL_Float32(IN, ACC) VMULPS IN, ACC, ACC
#define MUL_Float64(IN, ACC) VMULPD IN, ACC, ACC

// MAXPS and MINPS return the second source when both are zeros or one is a NaN.
// So both orders are taken. They differ in these cases alone: for zeros, and-ing
// them gives +0 if there is one, or-ing gives -0 if there is one. Or-ing anything
// to a NaN leaves a NaN; for the maximum the NaN is or-ed in as all ones where the
// two are unordered (predicate 3).
#define MAX_Float32(IN, ACC) \
	VMAXPS IN, ACC, Y8; \
	VCMPPS $3, IN, ACC, Y9; \
	VMAXPS ACC, IN, ACC; \
	VANDPS Y8, ACC, ACC; \
	VORPS  Y9, ACC, ACC
#define MAX_Float64(IN, ACC) \
	VMAXPD IN, ACC, Y8; \
	VCMPPD $3, IN, ACC, Y9; \
	VMAXPD ACC, IN, ACC; \
	VANDPD Y8, ACC, ACC; \
	VORPD  Y9, ACC, ACC
#define MIN_Float32(IN, ACC) \
	VMINPS IN, ACC, Y8; \
	VMINPS ACC, IN, ACC; \
	VORPS  Y8, ACC, ACC
#define MIN_Float64(IN, ACC) \
	VMINPD IN, ACC, Y8; \
	VMINPD ACC, IN, ACC; \
	VORPD  Y8, ACC, ACC

#define ADD_Int8(IN, ACC) VPADDB IN, ACC, ACC
#define ADD_Int16(IN, ACC) VPADDW IN, ACC, ACC
#define ADD_Int32(IN, ACC) VPADDD IN, ACC, ACC
#define ADD_Int64(IN, ACC) VPADDQ IN, ACC, ACC
#define MUL_Int16(IN, ACC) VPMULLW IN, ACC, ACC
#define MUL_Int32(IN, ACC) VPMULLD IN, ACC, ACC

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

// AVX2 has no maximum of 64 bits: compare, then take in where it wins. The
// comparison is signed; unsigned numbers have their highest bit turned first.
#define MAX_Int64(IN, ACC) \
	VPCMPGTQ  ACC, IN, Y8; \
	VBLENDVPD Y8, IN, ACC, ACC
#define MIN_Int64(IN, ACC) \
	VPCMPGTQ  IN, ACC, Y8; \
	VBLENDVPD Y8, IN, ACC, ACC
#define SIGN_64 \
	VPCMPEQQ Y15, Y15, Y15; \
	VPSLLQ   $63, Y15, Y15
#define MAX_Uint64(IN, ACC) \
	VPXOR     Y15, ACC, Y8; \
	VPXOR     Y15, IN, Y9; \
	VPCMPGTQ  Y8, Y9, Y8; \
	VBLENDVPD Y8, IN, ACC, ACC
#define MIN_Uint64(IN, ACC) \
	VPXOR     Y15, ACC, Y8; \
	VPXOR     Y15, IN, Y9; \
	VPCMPGTQ  Y9, Y8, Y8; \
	VBLENDVPD Y8, IN, ACC, ACC

#define AND(IN, ACC) VPAND IN, ACC, ACC
#define OR(IN, ACC) VPOR IN, ACC, ACC
#define XOR(IN, ACC) VPXOR IN, ACC, ACC

// Logical operations compare with 0 (Y14), which gives all ones where an element
// is false, and keep of the result what 1 (Y15) has.
#define TRUTH_8 \
	VPXOR    Y14, Y14, Y14; \
	VPCMPEQB Y15, Y15, Y15; \
	VPABSB   Y15, Y15
#define TRUTH_16 \
	VPXOR    Y14, Y14, Y14; \
	VPCMPEQW Y15, Y15, Y15; \
	VPSRLW   $15, Y15, Y15
#define TRUTH_32 \
	VPXOR    Y14, Y14, Y14; \
	VPCMPEQD Y15, Y15, Y15; \
	VPSRLD   $31, Y15, Y15
#define TRUTH_64 \
	VPXOR    Y14, Y14, Y14; \
	VPCMPEQQ Y15, Y15, Y15; \
	VPSRLQ   $63, Y15, Y15
#define BOTH(CMPEQ, IN, ACC) \
	CMPEQ  Y14, IN, IN; \
	CMPEQ  Y14, ACC, ACC; \
	VPOR   IN, ACC, ACC; \
	VPANDN Y15, ACC, ACC
#define EITHER(CMPEQ, IN, ACC) \
	VPOR   IN, ACC, ACC; \
	CMPEQ  Y14, ACC, ACC; \
	VPANDN Y15, ACC, ACC
#define ODD(CMPEQ, IN, ACC) \
	CMPEQ Y14, IN, IN; \
	CMPEQ Y14, ACC, ACC; \
	VPXOR IN, ACC, ACC; \
	VPAND Y15, ACC, ACC
#define BOTH_8(IN, ACC) BOTH(VPCMPEQB, IN, ACC)
#define BOTH_16(IN, ACC) BOTH(VPCMPEQW, IN, ACC)
#define BOTH_32(IN, ACC) BOTH(VPCMPEQD, IN, ACC)
#define BOTH_64(IN, ACC) BOTH(VPCMPEQQ, IN, ACC)
#define EITHER_8(IN, ACC) EITHER(VPCMPEQB, IN, ACC)
#define EITHER_16(IN, ACC) EITHER(VPCMPEQW, IN, ACC)
#define EITHER_32(IN, ACC) EITHER(VPCMPEQD, IN, ACC)
#define EITHER_64(IN, ACC) EITHER(VPCMPEQQ, IN, ACC)
#define ODD_8(IN, ACC) ODD(VPCMPEQB, IN, ACC)
#define ODD_16(IN, ACC) ODD(VPCMPEQW, IN, ACC)
#define ODD_32(IN, ACC) ODD(VPCMPEQD, IN, ACC)
#define ODD_64(IN, ACC) ODD(VPCMPEQQ, IN, ACC)
