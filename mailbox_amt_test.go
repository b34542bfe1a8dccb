package weft

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weft/internal/amt"
)

// A process that joins takes over what the environment says.
func TestJoinedWithTable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "amt")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := amt.Table{Ranks: 1, Receivers: []amt.Rings{{Rank: 0, Rings: []int{4096}}}}
	if err := table.Write(f); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envAMT, name)
	p, err := Join(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.amt == nil || len(p.amt.Rings) != 1 {
		t.Errorf("%+v", p.amt)
	}
}

// A file that is no table keeps the process from joining.
func TestJoinWithoutTable(t *testing.T) {
	t.Setenv(envAMT, os.Args[0])
	if _, err := Join(t.Context(), nil); !errors.Is(err, amt.ErrTable) {
		t.Error(err)
	}
}
