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

// of returns the update of words for elements of a kind and a size.
func (u Update) of(k reflect.Kind, size int) (weft.Update, error) {
	column := 0
	switch k {
	case reflect.Int64, reflect.Int:
	case reflect.Uint64, reflect.Uint:
		column = 1
	case reflect.Float64:
		column = 2
	default:
		return 0, ErrUpdate
	}
	if u >= updates || size != 8 || wordUpdates[u][column] == no {
		return 0, ErrUpdate
	}
	return wordUpdates[u][column], nil
}
