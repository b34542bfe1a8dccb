#include "textflag.h"

// func own(p unsafe.Pointer, n int)
TEXT ·own(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ n+8(FP), CX
next:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x0F // PREFETCHW (DI)
	ADDQ $64, DI
	SUBQ $64, CX
	JA next
	RET
