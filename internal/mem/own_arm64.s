#include "textflag.h"

// func own(p unsafe.Pointer, n int)
TEXT ·own(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
next:
	PRFM (R0), PSTL1KEEP
	ADD $64, R0
	SUBS $64, R1
	BGT next
	RET
