//go:build mutants

package weak

import (
	"sync/atomic"
	"unsafe"
)

// A Uint64 is that of sync/atomic.
type Uint64 struct{ v atomic.Uint64 }

// A Uint32 is that of sync/atomic.
type Uint32 struct{ v atomic.Uint32 }

// Types whose values do not lie in memory that processes share.
type (
	Bool    = atomic.Bool
	Int32   = atomic.Int32
	Int64   = atomic.Int64
	Uintptr = atomic.Uintptr
	// A Pointer is that of sync/atomic.
	Pointer[T any] = atomic.Pointer[T]
)

// Load is an atomic load.
func (x *Uint64) Load() uint64 {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		return v.load(off, 8)
	}
	return x.v.Load()
}

// Store is an atomic store.
func (x *Uint64) Store(value uint64) {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		v.store(off, 8, value)
		return
	}
	x.v.Store(value)
}

// Add adds and returns the sum.
func (x *Uint64) Add(delta uint64) uint64 {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		return delta + v.change(off, 8, func(old uint64) (uint64, bool) { return old + delta, true })
	}
	return x.v.Add(delta)
}

// Swap writes and returns the old value.
func (x *Uint64) Swap(value uint64) uint64 {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		return v.change(off, 8, func(uint64) (uint64, bool) { return value, true })
	}
	return x.v.Swap(value)
}

// CompareAndSwap writes if the value is old, and reports whether it was.
func (x *Uint64) CompareAndSwap(old, value uint64) bool {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		return old == v.change(off, 8, func(is uint64) (uint64, bool) { return value, is == old })
	}
	return x.v.CompareAndSwap(old, value)
}

// Load is an atomic load.
func (x *Uint32) Load() uint32 { return LoadUint32((*uint32)(unsafe.Pointer(x))) }

// Store is an atomic store.
func (x *Uint32) Store(value uint32) { StoreUint32((*uint32)(unsafe.Pointer(x)), value) }

// Add adds and returns the sum.
func (x *Uint32) Add(delta uint32) uint32 {
	if v, off := find(unsafe.Pointer(x)); v != nil {
		return delta + uint32(v.change(off, 4, func(old uint64) (uint64, bool) { return old + uint64(delta), true }))
	}
	return x.v.Add(delta)
}

// CompareAndSwap writes if the value is old, and reports whether it was.
func (x *Uint32) CompareAndSwap(old, value uint32) bool {
	return CompareAndSwapUint32((*uint32)(unsafe.Pointer(x)), old, value)
}

// LoadUint32 is an atomic load.
func LoadUint32(p *uint32) uint32 {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		return uint32(v.load(off, 4))
	}
	return atomic.LoadUint32(p)
}

// StoreUint32 is an atomic store.
func StoreUint32(p *uint32, value uint32) {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		v.store(off, 4, uint64(value))
		return
	}
	atomic.StoreUint32(p, value)
}

// CompareAndSwapUint32 writes if the value is old, and reports whether it was.
func CompareAndSwapUint32(p *uint32, old, value uint32) bool {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		return old == uint32(v.change(off, 4, func(is uint64) (uint64, bool) { return uint64(value), uint32(is) == old }))
	}
	return atomic.CompareAndSwapUint32(p, old, value)
}

// AndUint32 clears the bits that are not in mask, and returns the old value.
func AndUint32(p *uint32, mask uint32) uint32 {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		return uint32(v.change(off, 4, func(old uint64) (uint64, bool) { return old & uint64(mask), true }))
	}
	return atomic.AndUint32(p, mask)
}

// OrUint32 sets the bits that are in mask, and returns the old value.
func OrUint32(p *uint32, mask uint32) uint32 {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		return uint32(v.change(off, 4, func(old uint64) (uint64, bool) { return old | uint64(mask), true }))
	}
	return atomic.OrUint32(p, mask)
}

// SwapUint32 writes, and returns the old value.
func SwapUint32(p *uint32, value uint32) uint32 {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		return uint32(v.change(off, 4, func(uint64) (uint64, bool) { return uint64(value), true }))
	}
	return atomic.SwapUint32(p, value)
}

func word(p *uint64) *Uint64 { return (*Uint64)(unsafe.Pointer(p)) }

// LoadUint64 is an atomic load.
func LoadUint64(p *uint64) uint64 { return word(p).Load() }

// StoreUint64 is an atomic store.
func StoreUint64(p *uint64, value uint64) { word(p).Store(value) }

// AddUint64 adds and returns the sum.
func AddUint64(p *uint64, delta uint64) uint64 { return word(p).Add(delta) }

// SwapUint64 writes and returns the old value.
func SwapUint64(p *uint64, value uint64) uint64 { return word(p).Swap(value) }

// CompareAndSwapUint64 writes if the value is old, and reports whether it was.
func CompareAndSwapUint64(p *uint64, old, value uint64) bool {
	return word(p).CompareAndSwap(old, value)
}

// Unfenced is Publish in the place of an atomic store, for a planted bug.
func Unfenced(x *Uint64, value uint64) { Publish((*uint64)(unsafe.Pointer(x)), value) }

// Publish is a store that becomes visible later, after all that was written before.
func Publish(p *uint64, value uint64) {
	if v, off := find(unsafe.Pointer(p)); v != nil {
		v.publish(off, 8, value)
		return
	}
	atomic.StoreUint64(p, value)
}

// Relaxed is an ordinary store in the place of an atomic one, for a planted bug.
func Relaxed(x *Uint64, value uint64) { *(*uint64)(unsafe.Pointer(x)) = value }
