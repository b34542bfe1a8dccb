package mpi

import "cmp"

// An Op combines two slices of the same length, element by element, into dst: dst[i] becomes dst[i] ∘ src[i]. It must
// be associative, apart from rounding, and must not keep the slices. It need not be commutative: operations combine
// elements in the order of the ranks. T may be any type without pointers.
type Op[T any] func(dst, src []T)

// A Number is a type that Sum and Prod combine.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// An Integer is a type that And, Or and Xor combine.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// Each returns the Op that combines two elements by a function (MPI_Op_create).
func Each[T any](f func(a, b T) T) Op[T] {
	return func(dst, src []T) {
		src = src[:len(dst)]
		for i := range dst {
			dst[i] = f(dst[i], src[i])
		}
	}
}

// Sum is the Op that adds.
func Sum[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

// Prod is the Op that multiplies.
func Prod[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] *= src[i]
	}
}

// Min is the Op that keeps the smaller element.
func Min[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = min(dst[i], src[i])
	}
}

// Max is the Op that keeps the larger element.
func Max[T cmp.Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], src[i])
	}
}

// And is the Op of bitwise and.
func And[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] &= src[i]
	}
}

// Or is the Op of bitwise or.
func Or[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] |= src[i]
	}
}

// Xor is the Op of bitwise exclusive or.
func Xor[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] ^= src[i]
	}
}

// All is the Op of logical and.
func All[T ~bool](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] && src[i]
	}
}

// Some is the Op of logical or.
func Some[T ~bool](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = dst[i] || src[i]
	}
}

// A Loc is a value and where it is, such as a rank: for MinLoc and MaxLoc.
type Loc[T cmp.Ordered] struct {
	Value T
	Index int
}

// MinLoc is the Op that keeps the smallest value and its index, the smallest one of several.
func MinLoc[T cmp.Ordered](dst, src []Loc[T]) {
	src = src[:len(dst)]
	for i, s := range src {
		if d := dst[i]; s.Value < d.Value || s.Value == d.Value && s.Index < d.Index {
			dst[i] = s
		}
	}
}

// MaxLoc is the Op that keeps the largest value and its index, the smallest one of several.
func MaxLoc[T cmp.Ordered](dst, src []Loc[T]) {
	src = src[:len(dst)]
	for i, s := range src {
		if d := dst[i]; s.Value > d.Value || s.Value == d.Value && s.Index < d.Index {
			dst[i] = s
		}
	}
}
