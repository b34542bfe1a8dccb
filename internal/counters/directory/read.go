package directory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
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
	for _, place := range visible() {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if dir := filepath.Join(place, e.Name()); isJob(e.Name()) && private(dir) == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Read reads the pages in the directory of a job, in the order of the ranks. Pages that cannot
// be read are left out, and the error says why.
func Read(dir string) (ranks []Rank, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, e := range entries {
		if !isNumber(e.Name()) {
			continue // a draft
		}
		r, err := ReadPage(filepath.Join(dir, e.Name()))
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
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// ReadPage reads the page of one rank.
func ReadPage(path string) (Rank, error) {
	f, err := open(path)
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
