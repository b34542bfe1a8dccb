package main

import (
	"testing"

	"weft"
)

func TestHello(t *testing.T) {
	for _, n := range []int{1, 5} {
		if err := weft.Local(t.Context(), n, run); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}
