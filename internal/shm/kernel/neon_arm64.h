// LOOP combines whole vectors of 16 bytes, four at a time while there are four:
// V0-V3 hold elements of acc, V4-V7 of in. Go's assembler lacks most of the
// instructions, but all have one form: Vm in bits 16-20, Vn in 5-9, Vd in 0-4.
#define OP(BASE, M, D) WORD $(BASE | (M << 16) | (D << 5) | D)

#define LOOP(BASE) \
	MOVD dst+0(FP), R0; \
	MOVD acc+8(FP), R3; \
	MOVD in+16(FP), R1; \
	MOVD n+24(FP), R2; \
	SUBS $64, R2, R2; \
	BLT  rest; \
blocks: \
	VLD1.P 64(R3), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	OP(BASE, 4, 0); \
	OP(BASE, 5, 1); \
	OP(BASE, 6, 2); \
	OP(BASE, 7, 3); \
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0); \
	SUBS   $64, R2, R2; \
	BGE    blocks; \
rest: \
	ADDS $64, R2, R2; \
	BEQ  done; \
vectors: \
	VLD1.P 16(R3), [V0.B16]; \
	VLD1.P 16(R1), [V4.B16]; \
	OP(BASE, 4, 0); \
	VST1.P [V0.B16], 16(R0); \
	SUBS   $16, R2, R2; \
	BNE    vectors; \
done: \
	RET

// FMAX and FMIN return a NaN if there is one and order -0 before +0.
#define ADD_Float32 0x4E20D400 // FADD Vd.4S, Vn.4S, Vm.4S
#define ADD_Float64 0x4E60D400 // FADD Vd.2D, Vn.2D, Vm.2D
#define MUL_Float32 0x6E20DC00 // FMUL Vd.4S, Vn.4S, Vm.4S
#define MUL_Float64 0x6E60DC00 // FMUL Vd.2D, Vn.2D, Vm.2D
#define MAX_Float32 0x4E20F400 // FMAX Vd.4S, Vn.4S, Vm.4S
#define MAX_Float64 0x4E60F400 // FMAX Vd.2D, Vn.2D, Vm.2D
#define MIN_Float32 0x4EA0F400 // FMIN Vd.4S, Vn.4S, Vm.4S
#define MIN_Float64 0x4EE0F400 // FMIN Vd.2D, Vn.2D, Vm.2D
#define ADD_Int8 0x4E208400 // ADD Vd.16B, Vn.16B, Vm.16B
#define ADD_Int16 0x4E608400 // ADD Vd.8H, Vn.8H, Vm.8H
#define ADD_Int32 0x4EA08400 // ADD Vd.4S, Vn.4S, Vm.4S
#define ADD_Int64 0x4EE08400 // ADD Vd.2D, Vn.2D, Vm.2D
#define MUL_Int8 0x4E209C00 // MUL Vd.16B, Vn.16B, Vm.16B
#define MUL_Int16 0x4E609C00 // MUL Vd.8H, Vn.8H, Vm.8H
#define MUL_Int32 0x4EA09C00 // MUL Vd.4S, Vn.4S, Vm.4S
#define MAX_Int8 0x4E206400 // SMAX Vd.16B, Vn.16B, Vm.16B
#define MAX_Uint8 0x6E206400 // UMAX Vd.16B, Vn.16B, Vm.16B
#define MIN_Int8 0x4E206C00 // SMIN Vd.16B, Vn.16B, Vm.16B
#define MIN_Uint8 0x6E206C00 // UMIN Vd.16B, Vn.16B, Vm.16B
#define MAX_Int16 0x4E606400 // SMAX Vd.8H, Vn.8H, Vm.8H
#define MAX_Uint16 0x6E606400 // UMAX Vd.8H, Vn.8H, Vm.8H
#define MIN_Int16 0x4E606C00 // SMIN Vd.8H, Vn.8H, Vm.8H
#define MIN_Uint16 0x6E606C00 // UMIN Vd.8H, Vn.8H, Vm.8H
#define MAX_Int32 0x4EA06400 // SMAX Vd.4S, Vn.4S, Vm.4S
#define MAX_Uint32 0x6EA06400 // UMAX Vd.4S, Vn.4S, Vm.4S
#define MIN_Int32 0x4EA06C00 // SMIN Vd.4S, Vn.4S, Vm.4S
#define MIN_Uint32 0x6EA06C00 // UMIN Vd.4S, Vn.4S, Vm.4S
#define AND 0x4E201C00 // AND Vd.16B, Vn.16B, Vm.16B
#define OR 0x4EA01C00 // ORR Vd.16B, Vn.16B, Vm.16B
#define XOR 0x6E201C00 // EOR Vd.16B, Vn.16B, Vm.16B
