package directory

import (
	"os"
	"strings"

	"weft/internal/sys"
)

// Sweep removes what is left of this user's jobs that have no living rank here. The page of a
// rank that was killed stays as long as other ranks of its job live.
func Sweep() {
	for _, p := range places() {
		for _, job := range p.jobs() {
			dir, err := p.openJob(job)
			if err != nil {
				continue
			}
			if over(dir) {
				empty(dir)
			}
			dir.Close()
			p.removeEmpty(job)
		}
	}
}

// over reports whether no rank lives whose page lies in a directory.
func over(dir *os.Root) bool {
	names, err := list(dir)
	if err != nil {
		return false
	}
	for _, name := range names {
		f, err := open(dir, name)
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

// empty removes the pages that nobody holds from the directory of a job. It holds each while
// it does so: a rank that is just making its page notices that the file has gone, and makes another.
func empty(dir *os.Root) {
	names, _ := list(dir)
	for _, name := range names {
		if !isNumber(strings.TrimSuffix(name, newSuffix)) {
			continue
		}
		f, err := open(dir, name)
		if err != nil {
			continue
		}
		if sys.Seize(f) {
			_ = dir.Remove(name)
		}
		f.Close()
	}
}
