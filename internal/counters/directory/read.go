package directory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"weft/internal/counters"
	"weft/internal/sys"
)

// A Rank is what the page of one rank says.
type Rank struct {
	*counters.Snapshot
	Alive bool `json:"alive"` // its process has not ended; it may be stopped
}

// Jobs returns the directories of the jobs of which pages are here, in order: those of this
// user, or of all if that is root.
func Jobs() (dirs []string) {
	for _, p := range visible() {
		for _, job := range p.jobs() {
			dirs = append(dirs, filepath.Join(p.path(), job))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// jobs returns the names of the directories of jobs in a place.
func (p place) jobs() []string {
	dir, err := p.open()
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := list(dir) // as many as can be read
	return slices.DeleteFunc(names, func(name string) bool { return !isJob(name) })
}

// Read reads the pages in the directory of a job, which Jobs has returned, in the order of the ranks. Pages that
// cannot be read are left out, and the error says why.
func Read(path string) (ranks []Rank, err error) {
	p, ok := parsePlace(filepath.Dir(path))
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: counters.ErrForeign}
	}
	dir, err := p.openJob(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := list(dir)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, name := range names {
		if !isNumber(name) {
			continue // a draft
		}
		r, err := readPage(dir, name)
		switch {
		case errors.Is(err, os.ErrNotExist): // it has just left
		case err != nil:
			failed = append(failed, err)
		default:
			ranks = append(ranks, r)
		}
	}
	slices.SortFunc(ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	return ranks, errors.Join(failed...)
}

// list returns the names in a directory.
func list(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Shows reports whether there is a page of one of these processes.
func Shows(pids []int) bool {
	for _, dir := range Jobs() {
		ranks, _ := Read(dir) // those that can be read
		if slices.ContainsFunc(ranks, func(r Rank) bool { return slices.Contains(pids, r.PID) }) {
			return true
		}
	}
	return false
}

// open opens a file to read, whatever has been put in its place.
func open(dir *os.Root, name string) (*os.File, error) {
	return dir.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// readPage reads the page of one rank.
func readPage(dir *os.Root, name string) (Rank, error) {
	path := filepath.Join(dir.Name(), name)
	f, err := open(dir, name)
	if err != nil {
		return Rank{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Rank{}, err
	}
	if !info.Mode().IsRegular() {
		return Rank{}, fmt.Errorf("%s: %w", path, counters.ErrForeign)
	}
	b, err := io.ReadAll(io.LimitReader(f, counters.MaxPage))
	if err != nil {
		return Rank{}, err
	}
	again := make([]byte, counters.NodeSize)
	if _, err := f.ReadAt(again, 0); err != nil {
		return Rank{}, fmt.Errorf("%s: %w", path, counters.ErrForeign)
	}
	s, err := counters.Parse(counters.Whole(b, again))
	if err != nil {
		return Rank{}, fmt.Errorf("%s: %w", path, err)
	}
	return Rank{s, sys.Held(f)}, nil
}
