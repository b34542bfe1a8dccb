#include "textflag.h"

// func flushLine(p *byte)
TEXT ·flushLine(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	CLFLUSH (AX)
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	MFENCE
	RET
