package rma

import (
	"encoding/binary"
	"math"

	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// A Code says what becomes of words.
type Code = wire.Code

// Replace is the Code of a write.
const Replace = wire.CodeSwap

// Write writes bytes to memory, or updates each of its words with one of them. Bounds and alignment have been checked.
func Write(b []byte, code Code, src []byte) {
	if code == wire.CodeSwap {
		mem.Copy(b, src)
		return
	}
	for off := 0; off < len(src); off += 8 {
		Apply(b, off, code, binary.NativeEndian.Uint64(src[off:]), 0)
	}
}

// Apply executes an atomic operation on the word at off, and returns what was there before. Bounds and alignment have
// been checked.
func Apply(b []byte, off int, code Code, a, c uint64) uint64 {
	switch code {
	case wire.CodeAdd:
		return mem.Add64(b, off, a) - a
	case wire.CodeSwap:
		return mem.Swap64(b, off, a)
	}
	for {
		seen := mem.Load64(b, off)
		v := combined(code, seen, a, c)
		if v == seen || mem.CompareAndSwap64(b, off, seen, v) {
			return seen
		}
	}
}

// combined returns what becomes of the value v of a word. Floating-point numbers have 64 bits.
func combined(code wire.Code, v, a, c uint64) uint64 {
	switch code {
	case wire.CodeCompareSwap:
		if v == a {
			return c
		}
	case wire.CodeMul:
		return v * a
	case wire.CodeAnd:
		return v & a
	case wire.CodeOr:
		return v | a
	case wire.CodeXor:
		return v ^ a
	case wire.CodeMin:
		return uint64(min(int64(v), int64(a)))
	case wire.CodeMax:
		return uint64(max(int64(v), int64(a)))
	case wire.CodeMinUnsigned:
		return min(v, a)
	case wire.CodeMaxUnsigned:
		return max(v, a)
	default:
		return math.Float64bits(combinedFloat(code, math.Float64frombits(v), math.Float64frombits(a)))
	}
	return v
}

// combinedFloat is combined for floating-point numbers.
func combinedFloat(code wire.Code, v, a float64) float64 {
	switch code {
	case wire.CodeAddFloat:
		return v + a
	case wire.CodeMulFloat:
		return v * a
	case wire.CodeMinFloat:
		return min(v, a)
	default:
		return max(v, a)
	}
}

// hold takes the latch of a region for an update.
func (r *Region) hold(code Code) {
	if r.Latch != nil && code != Replace {
		mem.LockWord(r.Latch, 0, r.Self, r.Dead)
	}
}

func (r *Region) release(code Code) {
	if r.Latch != nil && code != Replace {
		mem.UnlockWord(r.Latch, 0)
	}
}
