package mpi

import (
	"reflect"

	"weft"
)

// An Update says what becomes of an element of a Window by one that is sent: MPI_SUM and others at the target.
type Update uint8

// The updates.
const (
	UpdateReplace Update = iota // the element becomes what is sent (MPI_REPLACE)
	UpdateNoOp                  // it stays what it is (MPI_NO_OP)
	UpdateSum
	UpdateProd
	UpdateMin
	UpdateMax
	UpdateAnd // bitwise, of integers
	UpdateOr
	UpdateXor
	updates
)

// no stands where elements have no such update.
const no = weft.Update(255)

// wordUpdates are the updates of package weft: of integers with and without a sign, and of floating-point numbers.
var wordUpdates = [updates][3]weft.Update{
	UpdateReplace: {weft.UpdateReplace, weft.UpdateReplace, weft.UpdateReplace},
	UpdateNoOp:    {weft.UpdateOr, weft.UpdateOr, weft.UpdateOr}, // with 0
	UpdateSum:     {weft.UpdateAdd, weft.UpdateAdd, weft.UpdateAddFloat},
	UpdateProd:    {weft.UpdateMul, weft.UpdateMul, weft.UpdateMulFloat},
	UpdateMin:     {weft.UpdateMin, weft.UpdateMinUnsigned, weft.UpdateMinFloat},
	UpdateMax:     {weft.UpdateMax, weft.UpdateMaxUnsigned, weft.UpdateMaxFloat},
	UpdateAnd:     {weft.UpdateAnd, weft.UpdateAnd, no},
	UpdateOr:      {weft.UpdateOr, weft.UpdateOr, no},
	UpdateXor:     {weft.UpdateXor, weft.UpdateXor, no},
}

// plainUpdates are the same for many words, in memory that nothing else changes meanwhile.
var plainUpdates = [updates][3]combine{
	UpdateReplace: {typed[int64](replace), typed[int64](replace), typed[int64](replace)},
	UpdateSum:     {typed[int64](Sum[int64]), typed[int64](Sum[int64]), typed[float64](Sum[float64])},
	UpdateProd:    {typed[int64](Prod[int64]), typed[int64](Prod[int64]), typed[float64](Prod[float64])},
	UpdateMin:     {typed[int64](Min[int64]), typed[uint64](Min[uint64]), typed[float64](Min[float64])},
	UpdateMax:     {typed[int64](Max[int64]), typed[uint64](Max[uint64]), typed[float64](Max[float64])},
	UpdateAnd:     {typed[int64](And[int64]), typed[int64](And[int64]), nil},
	UpdateOr:      {typed[int64](Or[int64]), typed[int64](Or[int64]), nil},
	UpdateXor:     {typed[int64](Xor[int64]), typed[int64](Xor[int64]), nil},
}

func replace(dst, src []int64) { copy(dst, src) }

// of returns the update of words, and of many words, for elements of a kind and a size.
func (u Update) of(k reflect.Kind, size int) (weft.Update, combine, error) {
	column := 0
	switch k {
	case reflect.Int64, reflect.Int:
	case reflect.Uint64, reflect.Uint:
		column = 1
	case reflect.Float64:
		column = 2
	default:
		return 0, nil, ErrUpdate
	}
	if u >= updates || size != 8 || wordUpdates[u][column] == no {
		return 0, nil, ErrUpdate
	}
	return wordUpdates[u][column], plainUpdates[u][column], nil
}
