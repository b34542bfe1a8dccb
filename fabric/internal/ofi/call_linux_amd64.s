#include "textflag.h"

// carry runs on the system stack, by runtime.cgocall, with C's convention: DI is a *block.
TEXT carry(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BX
	MOVQ DI, BX
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
	ADDQ $16, SP
	POPQ BX
	XORL AX, AX
	RET

GLOBL ·carry(SB), NOPTR|RODATA, $8
DATA ·carry(SB)/8, $carry(SB)
