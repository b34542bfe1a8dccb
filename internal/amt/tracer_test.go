package amt

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCountingDoesNotAllocate(t *testing.T) {
	c := NewTracer(Part{Size: 2}, nil)
	c.Add(1, Send, 8)
	if n := testing.AllocsPerRun(100, func() { c.Add(1, Send, 8) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestTraceFollowsNothing: a link that a stranger has put in the place of a trace is not followed, neither where a rank
// writes its own nor where it removes those of ranks that an earlier run had.
func TestTraceFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "t")
	for _, rank := range []string{".0", ".2", ".3"} {
		if err := os.Symlink(precious, name+rank); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := CreateTracer(Part{Size: 2}, name); err == nil {
		t.Error("a trace was made through a link")
	}
	if err := os.Remove(name + ".0"); err != nil {
		t.Fatal(err)
	}
	tracer, err := CreateTracer(Part{Size: 2}, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := tracer.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(name + ".3"); err == nil {
		t.Error("what an earlier run left is still there")
	}
	if text, _ := os.ReadFile(precious); string(text) != "kept" {
		t.Errorf("the link's target was changed: %q", text)
	}
}
