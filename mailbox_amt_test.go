package weft

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft/internal/amt"
)

// tableFile writes the file of an AMT.
func tableFile(t *testing.T, table amt.Table) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "amt")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := table.Write(f); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRingsOfARank(t *testing.T) {
	name := tableFile(t, amt.Table{Ranks: 3, Receivers: []amt.Rings{
		{Rank: 0, Rings: []int{4096, 8192}, Table: map[int]int{2: 1}},
		{Rank: 2, Rings: []int{4096, 8192, 4096}, Table: map[int]int{0: 2, 1: 1}},
	}})
	f, err := readAMT(name, 3)
	if err != nil {
		t.Fatal(err)
	}
	a := f.of(2)
	if a.auto || !slices.Equal(a.rings, []int{4096, 8192, 4096}) || !maps.Equal(a.table, map[int]int{0: 2, 1: 1}) {
		t.Errorf("%+v", a)
	}
	if own := a.own(); !own(0) || own(1) {
		t.Errorf("%+v", a.owned)
	}
	if a = f.of(1); a.rings != nil || a.table != nil || !a.own()(2) || a.own()(0) {
		t.Errorf("a rank without rings: %+v", a)
	}
}

func TestNoRings(t *testing.T) {
	f, err := readAMT("", 3)
	if a := f.of(1); a != nil || err != nil || a.own() != nil {
		t.Errorf("%+v %v", a, err)
	}
	f, err = readAMT("auto", 3)
	if a := f.of(1); err != nil || !a.auto || a.rings != nil || a.own() != nil {
		t.Errorf("%+v %v", a, err)
	}
}

func TestTablesThatDoNotFit(t *testing.T) {
	var size *amt.SizeError
	if _, err := readAMT(tableFile(t, amt.Table{Ranks: 3}), 4); !errors.As(err, &size) || size.Job != 4 {
		t.Error(err)
	}
	if _, err := readAMT(filepath.Join(t.TempDir(), "none"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := readAMT(os.Args[0], 4); !errors.Is(err, amt.ErrTable) {
		t.Error(err)
	}
	t.Setenv(envAMT, os.Args[0])
	if _, err := Join(t.Context(), nil); !errors.Is(err, amt.ErrTable) {
		t.Error(err)
	}
}

// A process that joins takes over what the environment says.
func TestJoinedWithTable(t *testing.T) {
	t.Setenv(envAMT, tableFile(t, amt.Table{Ranks: 1, Receivers: []amt.Rings{{Rank: 0, Rings: []int{4096}}}}))
	p, err := Join(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.amt == nil || len(p.amt.rings) != 1 {
		t.Errorf("%+v", p.amt)
	}
}
