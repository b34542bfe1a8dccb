package mpi

import (
	"reflect"
	"sync"

	"weft"
	"weft/internal/mem"
)

// A Buffer says where the elements of a message lie: it is MPI's buffer, count and datatype in one. Of and Part make
// it. The elements may be of any type without pointers, structs and arrays too. A Buffer refers to the slice that it
// was made of, and is valid as long as that.
type Buffer struct {
	b    []byte // the whole slice
	size int    // of an element, in bytes
	kind reflect.Kind
	at   *Section // nil: all elements

	inPlace bool // it is InPlace
}

// Of returns the buffer that consists of all elements of a slice.
func Of[T any](s []T) Buffer {
	return Buffer{b: mem.Bytes(s), size: mem.Size[T](), kind: kindOf[T]()}
}

// Part returns the buffer that consists of the elements of a slice that lie in a section.
func Part[T any](s []T, at *Section) Buffer {
	b := Of(s)
	b.at = at
	return b
}

// pointed remembers, of structs and arrays, whether they have pointers.
var pointed sync.Map

// kindOf returns the kind of a type, or Invalid if values of it cannot be sent, since they have pointers.
func kindOf[T any]() reflect.Kind {
	t := reflect.TypeFor[T]()
	switch k := t.Kind(); k {
	case reflect.Struct, reflect.Array:
		has, ok := pointed.Load(t)
		if !ok {
			has = hasPointers(t)
			pointed.Store(t, has)
		}
		if has.(bool) {
			return reflect.Invalid
		}
		return k
	default:
		if plain(k) {
			return k
		}
		return reflect.Invalid
	}
}

// plain reports whether values of a basic kind have no pointers.
func plain(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// hasPointers reports whether values of a type have pointers.
func hasPointers(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return !plain(k)
	}
}

// Parts returns a buffer for each member, for the operations that have a length for each: the first has counts[0]
// elements of the slice, the next one the counts[1] elements behind these, and so on. If the slice has fewer elements,
// that is an error of the operation.
func Parts[T any](s []T, counts []int) []Buffer {
	parts := make([]Buffer, len(counts))
	at := 0
	for i, n := range counts {
		if n < 0 || n > len(s)-at {
			parts[i] = Part(s, Vector(at, 1, n, 0)) // which check refuses
		} else {
			parts[i] = Of(s[at : at+n])
		}
		at += max(n, 0)
	}
	return parts
}

// InPlace says, in place of what a member sends, that it lies already where the result will be (MPI_IN_PLACE).
var InPlace = Buffer{inPlace: true}

// cut returns some elements of a buffer that has no section.
func (b *Buffer) cut(from, to int) Buffer {
	return Buffer{b: b.b[from*b.size : to*b.size], size: b.size, kind: b.kind}
}

// flat returns a buffer with the same elements that has no section, in a room if need be.
func (b *Buffer) flat(m *room) Buffer {
	if b.at == nil {
		return *b
	}
	f := Buffer{b: m.get(b.bytes()), size: b.size, kind: b.kind}
	b.pack(f.b)
	return f
}

// count returns the number of elements.
func (b *Buffer) count() int {
	switch {
	case b.at != nil:
		return b.at.count
	case b.size == 0:
		return 0
	}
	return quotient(len(b.b), b.size)
}

// bytes returns the length of the elements in bytes.
func (b *Buffer) bytes() int {
	if b.at != nil {
		return b.at.count * b.size
	}
	return len(b.b)
}

// check returns why the buffer cannot be used, or nil.
func (b *Buffer) check() error {
	switch {
	case b.kind == reflect.Invalid:
		return ErrType
	case b.at != nil && (b.at.err != nil || b.size > 0 && b.at.end > len(b.b)/b.size):
		return b.at.misfit(len(b.b) / max(b.size, 1))
	}
	return nil
}

// pack copies the elements into dst, which has room for them, one behind the other.
func (b *Buffer) pack(dst []byte) {
	if b.at == nil {
		mem.Move(dst, b.b)
		return
	}
	b.at.each(func(off, n int) {
		dst = dst[copy(dst, b.b[off*b.size:(off+n)*b.size]):]
	})
}

// unpack copies elements that lie one behind the other into the buffer, which has room for them. There may be fewer.
func (b *Buffer) unpack(src []byte) {
	if b.at == nil {
		mem.Move(b.b, src)
		return
	}
	b.at.each(func(off, n int) {
		src = src[copy(b.b[off*b.size:(off+n)*b.size], src):]
	})
}

// describe puts the number, size and kind of the elements into a header.
func (b *Buffer) describe(h *header) {
	h.kind = b.kind
	h.size = uint32(b.size)
	h.length = uint64(b.count())
}

// Alloc returns n zeroed elements, of a type without pointers, in memory that ranks of the same host can read without a
// system call: long messages sent from it, and elements of collective operations, are copied once. The memory is valid
// until Free, or until the Proc is closed.
func Alloc[T any](p *weft.Proc, n int) ([]T, error) {
	if kindOf[T]() == reflect.Invalid {
		return nil, ErrType
	}
	b, err := p.Alloc(max(n*mem.Size[T](), 8))
	if err != nil {
		return nil, err
	}
	return mem.View[T](b, n), nil
}

// Free gives back elements that Alloc has returned (MPI_Free_mem). They must not be used any more.
func Free[T any](p *weft.Proc, s []T) error { return p.Free(mem.Bytes(s)) }
