#include "textflag.h"

// func carry(first *block, top unsafe.Pointer)
// R12 and BX are the callee's to save, in C's convention.
TEXT ·carry(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), BX
	MOVQ top+8(FP), AX
	MOVQ SP, R12
	MOVQ AX, SP
	SUBQ $16, SP
again:
	MOVQ 56(BX), AX
	MOVQ AX, 0(SP)
	MOVQ 64(BX), AX
	MOVQ AX, 8(SP)
	MOVQ 8(BX), DI
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	MOVQ 32(BX), CX
	MOVQ 40(BX), R8
	MOVQ 48(BX), R9
	XORL AX, AX
	MOVQ 0(BX), R10
	CALL R10
	MOVQ AX, 72(BX)
	CMPQ AX, $-11 // -FI_EAGAIN
	JNE over
	CMPQ 80(BX), $1
	JLE done
	SUBQ $1, 80(BX)
	JMP again
over:
	TESTQ AX, AX
	JLT done
	MOVQ 88(BX), BX
	TESTQ BX, BX
	JNE again
done:
	MOVQ R12, SP
	RET
