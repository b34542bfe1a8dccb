//go:build !race

#include "textflag.h"

// func hasStrings() bool
TEXT ·hasStrings(SB), NOSPLIT, $0-1
	MOVL $0, AX
	CPUID
	MOVB $0, ret+0(FP)
	CMPL AX, $7
	JLT done
	MOVL $7, AX
	MOVL $0, CX
	CPUID
	SHRL $9, BX // ERMS
	ANDL $1, BX
	MOVB BX, ret+0(FP)
done:
	RET

// func moveString(dst, src unsafe.Pointer, n int)
TEXT ·moveString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	REP; MOVSB
	RET
