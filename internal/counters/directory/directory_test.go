//go:build linux

package directory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/counters"
	"weft/internal/sys"
)

// room makes pages lie in a directory of the test.
func room(t *testing.T) (place string) {
	root := t.TempDir()
	t.Setenv(Env, root)
	return places()[0]
}

func create(t *testing.T, job uint64, rank, size int) *File {
	t.Helper()
	f, err := Create(job, counters.Identity{Rank: rank, Size: size, PID: os.Getpid(), Host: "here", Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// die does what the kernel does when a process ends.
func die(f *File) {
	f.file.Close()
	_ = sys.Unmap(f.memory) // it has a part in the lock
}

// TestPages: pages of several jobs are found and read while they are written, and are gone when
// their ranks have left.
func TestPages(t *testing.T) {
	place := room(t)
	const size = 100
	var files []*File
	for rank := range 3 {
		f := create(t, 1, rank, size)
		for peer := range rank * 40 { // the last one's needs several chunks
			f.Page.Peer(peer).Sent.Messages = uint64(peer)
		}
		files = append(files, f)
	}
	files = append(files, create(t, 2, 0, 2))
	dirs := Jobs()
	if len(dirs) != 2 {
		t.Fatalf("jobs %q", dirs)
	}
	ranks, err := Read(filepath.Join(place, Name(1)))
	if err != nil || len(ranks) != 3 {
		t.Fatalf("%v, %v", ranks, err)
	}
	for i, r := range ranks {
		if r.Rank != i || r.Size != size || !r.Alive || r.Job != Name(1) || len(r.Peers) != i*40 || i > 0 &&
			r.Peers[39].Sent.Messages != 39 {
			t.Errorf("rank %d: %+v", i, r.Snapshot)
		}
	}
	if s, err := files[2].Snapshot(); err != nil || len(s.Peers) != 80 {
		t.Errorf("%+v, %v", s, err)
	}
	if Sweep(); !Shows([]int{1, os.Getpid()}) || Shows([]int{1}) {
		t.Error("it is not known whose pages these are")
	}
	if len(Jobs()) != 2 {
		t.Error("a job whose ranks live has been swept up")
	}
	for _, f := range files {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		f.Page.Peer(0).Sent.Messages++ // it can still be used
	}
	if entries, err := os.ReadDir(filepath.Dir(place)); err != nil || len(entries) != 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

// TestDead: the page of a rank that has ended without leaving stays while others of its job live,
// and is gone with the last.
func TestDead(t *testing.T) {
	place := room(t)
	dead := create(t, 1, 0, 2)
	alive := create(t, 1, 1, 2)
	dead.Page.Peer(1).Sent.Messages = 7
	die(dead)
	Sweep()
	ranks, err := Read(Jobs()[0])
	if err != nil || len(ranks) != 2 || ranks[0].Alive || !ranks[1].Alive || ranks[0].Sent.Messages != 7 {
		t.Fatalf("%+v, %v", ranks, err)
	}
	die(alive)
	if err := os.WriteFile(filepath.Join(place, Name(1), "1.new"), nil, 0o600); err != nil { // it was being made
		t.Fatal(err)
	}
	Sweep()
	if entries, _ := os.ReadDir(filepath.Dir(place)); len(entries) != 0 {
		t.Errorf("%v is left", entries)
	}
}

// TestNothingElseIsSwept: only what has the name of a job, and of pages in it, is removed.
func TestNothingElseIsSwept(t *testing.T) {
	place := room(t)
	for _, name := range []string{"letters/mine", Name(1) + "/mine", Name(1) + "/7"} {
		path := filepath.Join(place, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Sweep()
	for name, stays := range map[string]bool{"letters/mine": true, Name(1) + "/mine": true, Name(1) + "/7": false} {
		if _, err := os.Stat(filepath.Join(place, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStrangers: a directory that others could write to is not used, and what is no page is refused
// without harm.
func TestStrangers(t *testing.T) {
	place := room(t)
	if err := os.MkdirAll(place, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(place, 0o777); err != nil {
		t.Fatal(err)
	}
	if f, err := Create(1, counters.Identity{Size: 2}); err == nil {
		t.Errorf("%s can be written to by all", f.path)
	}
	if err := os.Chmod(place, 0o700); err != nil {
		t.Fatal(err)
	}
	f := create(t, 1, 0, 2)
	defer f.Close()
	dir := filepath.Dir(f.path)
	if err := os.WriteFile(filepath.Join(dir, "1"), []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "2")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "1"), 5); err != nil {
		t.Fatal(err)
	}
	ranks, err := Read(dir)
	if len(ranks) != 1 || err == nil {
		t.Errorf("%v, %v", ranks, err)
	}
	t.Setenv(Env, Off)
	if _, err := Create(1, counters.Identity{Size: 2}); err == nil || len(Jobs()) > 0 {
		t.Error("there are pages although they are off")
	}
}

// TestRemovedWhileMade: a directory that is taken for one that is over while a page is made in it
// is made again.
func TestRemovedWhileMade(t *testing.T) {
	place := room(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 300 {
			Sweep()
		}
	}()
	for i := range 300 {
		f, err := Create(uint64(i), counters.Identity{Rank: 1, Size: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPage(f.path); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	if _, err := os.Stat(place); err == nil {
		t.Errorf("%s is left", place)
	}
}
