#include "textflag.h"

// func products16(key *uint32, b *byte, n int) uint64
TEXT ·products16(SB), NOSPLIT, $0-32
	MOVQ key+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPXOR Y0, Y0, Y0 // two sums of four
	VPXOR Y1, Y1, Y1
	SUBQ $64, CX
	JLT less
blocks:
	VMOVDQU (DI), Y2
	VMOVDQU 32(DI), Y4
	VPADDD (SI), Y2, Y2
	VPADDD 32(SI), Y4, Y4
	VPSRLQ $32, Y2, Y3 // the second number of each pair
	VPSRLQ $32, Y4, Y5
	VPMULUDQ Y2, Y3, Y3 // times the first
	VPMULUDQ Y4, Y5, Y5
	VPADDQ Y3, Y0, Y0
	VPADDQ Y5, Y1, Y1
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $64, CX
	JGE blocks
less:
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	ADDQ $48, CX
	JLT done
pairs: // two at a time
	VMOVDQU (DI), X2
	VPADDD (SI), X2, X2
	VPSRLQ $32, X2, X3
	VPMULUDQ X2, X3, X3
	VPADDQ X3, X1, X1
	ADDQ $16, DI
	ADDQ $16, SI
	SUBQ $16, CX
	JGE pairs
done:
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, ret+24(FP)
	VZEROUPPER
	RET
