package directory

import (
	"os"
	"path/filepath"
	"strings"

	"weft/internal/sys"
)

// Sweep removes what is left of this user's jobs that have no living rank here. The page of a
// rank that was killed stays as long as other ranks of its job live.
func Sweep() {
	for _, place := range places() {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if dir := filepath.Join(place, e.Name()); isJob(e.Name()) && private(dir) == nil && over(dir) {
				remove(dir)
			}
		}
		_ = os.Remove(place) // unless something is in it
	}
}

// over reports whether no rank lives whose page lies in a directory.
func over(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		f, err := open(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it has just been removed
		}
		held := sys.Held(f)
		f.Close()
		if held {
			return false
		}
	}
	return true
}

// remove removes the directory of a job with the pages in it that nobody holds. It holds each while
// it does so: a rank that is just making its page notices that the file has gone, and makes another.
func remove(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !isNumber(strings.TrimSuffix(e.Name(), newSuffix)) {
			continue
		}
		f, err := open(path)
		if err != nil {
			continue
		}
		if sys.Seize(f) {
			_ = os.Remove(path)
		}
		f.Close()
	}
	_ = os.Remove(dir)
}
