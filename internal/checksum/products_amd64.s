#include "textflag.h"

// PART adds up the products of CX bytes at DI and the key at SI: in Y0 and Y1 those of whole blocks, in X6 those of
// the 16, 32 or 48 bytes after them.
#define PART(blocks, less, pairs, done) \
	ANDQ $~15, CX \
	SUBQ $64, CX \
	JLT less \
blocks: \
	VMOVDQU (DI), Y2 \
	VMOVDQU 32(DI), Y4 \
	VPADDD (SI), Y2, Y2 \
	VPADDD 32(SI), Y4, Y4 \
	VPSRLQ $32, Y2, Y3 \ // the second number of each pair
	VPSRLQ $32, Y4, Y5 \
	VPMULUDQ Y2, Y3, Y3 \ // times the first
	VPMULUDQ Y4, Y5, Y5 \
	VPADDQ Y3, Y0, Y0 \
	VPADDQ Y5, Y1, Y1 \
	ADDQ $64, DI \
	ADDQ $64, SI \
	SUBQ $64, CX \
	JGE blocks \
less: \
	ADDQ $48, CX \
	JLT done \
pairs: \ // two at a time
	VMOVDQU (DI), X2 \
	VPADDD (SI), X2, X2 \
	VPSRLQ $32, X2, X3 \
	VPMULUDQ X2, X3, X3 \
	VPADDQ X3, X6, X6 \
	ADDQ $16, DI \
	ADDQ $16, SI \
	SUBQ $16, CX \
	JGE pairs \
done:

// func products16(a, b, c []byte, keyB, keyC *uint32) uint64
TEXT ·products16(SB), NOSPLIT, $0-96
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR X6, X6, X6
	MOVQ c_base+48(FP), DI // the longest first: the others may just have been written
	MOVQ c_len+56(FP), CX
	MOVQ keyC+80(FP), SI
	PART(blocksC, lessC, pairsC, doneC)
	MOVQ b_base+24(FP), DI
	MOVQ b_len+32(FP), CX
	MOVQ keyB+72(FP), SI
	PART(blocksB, lessB, pairsB, doneB)
	MOVQ a_base+0(FP), DI
	MOVQ a_len+8(FP), CX
	LEAQ ·key(SB), SI
	PART(blocksA, lessA, pairsA, doneA)
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X6, X0, X0
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, ret+88(FP)
	VZEROUPPER
	RET
