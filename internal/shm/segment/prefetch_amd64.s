#include "textflag.h"

// func prefetchWrite(p *uint64)
TEXT ·prefetchWrite(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	// PREFETCHW (AX): a hint, and no operation where a processor does not know it.
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08
	RET
