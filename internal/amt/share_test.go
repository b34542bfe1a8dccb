package amt

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tableFile writes the file of an AMT.
func tableFile(t *testing.T, table Table) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "amt")
	table.Version = TableVersion
	text, err := json.Marshal(table)
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRingsOfARank(t *testing.T) {
	name := tableFile(t, Table{Ranks: 3, Receivers: []Rings{
		{Rank: 0, Rings: []int{4096, 8192}, Table: map[int]int{2: 1}},
		{Rank: 2, Rings: []int{4096, 8192, 4096}, Table: map[int]int{0: 2, 1: 1}},
	}})
	f, err := Load(name, 3)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Share(2)
	if !slices.Equal(a.Rings, []int{4096, 8192, 4096}) || !maps.Equal(a.Table, map[int]int{0: 2, 1: 1}) {
		t.Errorf("%+v", a)
	}
	if own := a.Own(); !own(0) || own(1) {
		t.Errorf("%+v", a.owned)
	}
	if a = f.Share(1); a.Rings != nil || a.Table != nil || !a.Own()(2) || a.Own()(0) {
		t.Errorf("a rank without rings: %+v", a)
	}
}

func TestNoRings(t *testing.T) {
	f, err := Load("", 3)
	if a := f.Share(1); a != nil || err != nil || a.Own() != nil {
		t.Errorf("%+v %v", a, err)
	}
}

func TestTablesThatDoNotFit(t *testing.T) {
	var size *SizeError
	if _, err := Load(tableFile(t, Table{Ranks: 3}), 4); !errors.As(err, &size) || size.Job != 4 {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load(os.Args[0], 4); !errors.Is(err, ErrTable) {
		t.Error(err)
	}
}
