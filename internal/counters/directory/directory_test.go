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
	return places()[0].path()
}

// path returns where the page lies.
func (f *File) path() string { return filepath.Join(f.place.path(), f.job, f.rank) }

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
		t.Errorf("%s can be written to by all", f.path())
	}
	if err := os.Chmod(place, 0o700); err != nil {
		t.Fatal(err)
	}
	f := create(t, 1, 0, 2)
	defer f.Close()
	dir := filepath.Dir(f.path())
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

// TestNothingIsFollowed: a stranger's directory, or a link to another directory, in the place of the user's is not
// used: nothing is made in it, read from it or removed from it.
func TestNothingIsFollowed(t *testing.T) {
	place := room(t)
	victim := filepath.Join(t.TempDir(), Name(1))
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(victim, "0"), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{ // from, to
		place:                         filepath.Dir(victim),
		filepath.Join(place, Name(1)): victim,
	}
	for from, to := range links {
		if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
		if f, err := Create(1, counters.Identity{Size: 2}); err == nil {
			t.Errorf("%s was made through a link", f.path())
		}
		if ranks, err := Read(filepath.Join(place, Name(1))); err == nil {
			t.Errorf("%v read through a link", ranks)
		}
		Sweep()
		if _, err := os.Stat(filepath.Join(victim, "0")); err != nil {
			t.Errorf("removed through %s: %v", from, err)
		}
		if err := os.RemoveAll(place); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnerIsDemanded: root uses no directory that another user owns in the place of root's, and does not remove what
// is in it.
func TestOwnerIsDemanded(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	place := room(t)
	dir := filepath.Join(place, Name(1))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, stranger := range []string{place, dir} {
		if err := os.Chown(stranger, 1000, 1000); err != nil {
			t.Fatal(err)
		}
		if f, err := Create(1, counters.Identity{Size: 2}); err == nil {
			t.Errorf("%s was made in the directory of a stranger", f.path())
		}
		Sweep()
		if _, err := os.Stat(filepath.Join(dir, "0")); err != nil {
			t.Errorf("%s is a stranger's: %v", stranger, err)
		}
		if err := os.Chown(stranger, 0, 0); err != nil {
			t.Fatal(err)
		}
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
		if ranks, err := Read(filepath.Dir(f.path())); err != nil || len(ranks) != 1 {
			t.Fatal(ranks, err)
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
