#include "textflag.h"

// func prefetchWrite(c *Cell)
TEXT ·prefetchWrite(SB), NOSPLIT, $0-8
	MOVD c+0(FP), R0
	PRFM (R0), PSTL1KEEP
	RET
