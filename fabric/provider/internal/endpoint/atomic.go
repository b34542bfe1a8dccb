package endpoint

import "weft/internal/mem"

// The operations on memory of others that are atomic, as enum fi_op has them.
const (
	opMin = iota
	opMax
	opSum
	opProduct
	opAnd // logical
	opOr
	opBitOr
	opBitAnd
	opXor // logical
	opBitXor
	opRead
	opWrite
	opSwapEqual // the operand takes the place of a word that compares so with what it is compared with
	opSwapOther
	opSwapLessEqual
	opSwapLess
	opSwapGreaterEqual
	opSwapGreater
	opSwapMasked
)

// typeSizes are the bytes of a word, by enum fi_datatype.
var typeSizes = [...]int{1, 1, 2, 2, 4, 4, 8, 8, 4, 8}

// maxAtomic is how many bytes an atomic operation may change.
const maxAtomic = 4096

type number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// update carries an operation out on all words of dst, whose operands are in by, and what they are compared with in
// with, where the operation compares. It reports whether there is such an operation.
func update(op, typ uint8, dst, by, with []byte) bool {
	switch typ {
	case 0:
		return updateAs[int8](op, dst, by, with, true)
	case 1:
		return updateAs[uint8](op, dst, by, with, true)
	case 2:
		return updateAs[int16](op, dst, by, with, true)
	case 3:
		return updateAs[uint16](op, dst, by, with, true)
	case 4:
		return updateAs[int32](op, dst, by, with, true)
	case 5:
		return updateAs[uint32](op, dst, by, with, true)
	case 6:
		return updateAs[int64](op, dst, by, with, true)
	case 7:
		return updateAs[uint64](op, dst, by, with, true)
	case 8:
		return updateAs[float32](op, dst, by, with, false)
	case 9:
		return updateAs[float64](op, dst, by, with, false)
	default:
		return false
	}
}

func updateAs[T number](op uint8, dst, by, with []byte, bits bool) bool {
	switch op {
	case opBitOr, opBitAnd, opBitXor, opSwapMasked:
		return bits && updateBits(op, dst, by, with)
	case opRead:
		return true
	}
	n := len(dst) / mem.Size[T]()
	words := mem.View[T](dst, n)
	operands := mem.View[T](by, n)
	others := operands
	if op >= opSwapEqual {
		others = mem.View[T](with, n)
	}
	for i := range words {
		to, ok := combine(op, words[i], operands[i], others[i])
		if !ok {
			return false
		}
		words[i] = to
	}
	return true
}

// updateBits is update for operations on bits, which are the same for bytes.
func updateBits(op uint8, dst, by, with []byte) bool {
	for i := range dst {
		switch op {
		case opBitOr:
			dst[i] |= by[i]
		case opBitAnd:
			dst[i] &= by[i]
		case opBitXor:
			dst[i] ^= by[i]
		case opSwapMasked:
			dst[i] = by[i]&with[i] | dst[i]&^with[i]
		}
	}
	return true
}

// combine returns what a word becomes.
func combine[T number](op uint8, was, by, than T) (T, bool) {
	truth := func(is bool) T {
		if is {
			return 1
		}
		return 0
	}
	swap := false
	switch op {
	case opMin:
		return min(was, by), true
	case opMax:
		return max(was, by), true
	case opSum:
		return was + by, true
	case opProduct:
		return was * by, true
	case opAnd:
		return truth(was != 0 && by != 0), true
	case opOr:
		return truth(was != 0 || by != 0), true
	case opXor:
		return truth((was != 0) != (by != 0)), true
	case opWrite:
		return by, true
	case opSwapEqual:
		swap = than == was
	case opSwapOther:
		swap = than != was
	case opSwapLessEqual:
		swap = than <= was
	case opSwapLess:
		swap = than < was
	case opSwapGreaterEqual:
		swap = than >= was
	case opSwapGreater:
		swap = than > was
	default:
		return was, false
	}
	if swap {
		return by, true
	}
	return was, true
}
