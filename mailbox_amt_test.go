package weft

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weft/internal/amt"
	"weft/internal/join"
)

// A process that joins takes over what the environment says.
func TestJoinedWithTable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "amt")
	table := `{"amt":1,"ranks":1,"receivers":[{"rank":0,"rings":[4096]}]}`
	if err := os.WriteFile(name, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(join.EnvAMT, name)
	p, err := Join(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.member.AMT == nil || len(p.member.AMT.Rings) != 1 {
		t.Errorf("%+v", p.member.AMT)
	}
}

// A file that is no table keeps the process from joining.
func TestJoinWithoutTable(t *testing.T) {
	t.Setenv(join.EnvAMT, os.Args[0])
	if _, err := Join(t.Context(), nil); !errors.Is(err, amt.ErrTable) {
		t.Error(err)
	}
}
