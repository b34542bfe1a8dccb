package directory

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"weft/internal/counters"
	"weft/internal/sys"
)

// A File is the page of this process where others can read it.
type File struct {
	Page *counters.Page

	place  place
	job    string // the name of its directory in the place
	rank   string // its name in that directory
	file   *os.File
	memory []byte // also what the file does not have yet
	size   int    // bytes of the file
}

// errOff reports that the user wants no pages.
var errOff = errors.New("weft: " + Env + "=" + Off)

// Create makes the page of a rank. The job is its number, which is not shown. The first rank of a job on a host removes
// what is left of earlier jobs: if each did, all would look at the pages of all.
func Create(job uint64, id counters.Identity) (*File, error) {
	id.Job = Name(job)
	err := errOff
	for _, p := range places() {
		if dir, missing := p.openJob(id.Job); missing != nil {
			Sweep()
		} else {
			dir.Close()
		}
		var f *File
		if f, err = createIn(p, id); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("weft: page of counters: %w", err)
}

// Name returns what a job is called in its pages: its number tells strangers nothing.
func Name(job uint64) string {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("weft counters "), job))
	return hex.EncodeToString(sum[:nameSize])
}

// nameSize is how much of a hash is the name of a job's directory.
const nameSize = 6 // bytes

// chunk is how many bytes a file grows by.
const chunk = 4096

// newSuffix ends the name of a file that is being made.
const newSuffix = ".new"

// createIn makes the page in a place. Another process may take the job's directory for one of
// a job that has ended, and remove it meanwhile; then the page is made again.
func createIn(p place, id counters.Identity) (f *File, err error) {
	for range 100 {
		f, err = tryCreate(p, id)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

// tryCreate makes a page under another name, locks it, and only then gives it its name: a page that can be found is
// locked as long as its rank lives. It reserves address space for all peers, and memory only for the rank itself.
func tryCreate(p place, id counters.Identity) (f *File, err error) {
	dir, err := p.make(id.Job)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	rank := strconv.Itoa(id.Rank)
	draft := rank + newSuffix
	_ = dir.Remove(draft) // of one that was killed
	file, err := dir.OpenFile(draft, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = dir.Remove(draft)
			file.Close()
		}
	}()
	if err := sys.Hold(file); err != nil {
		return nil, err
	}
	if err := sys.Extend(file, 0, counters.NodeSize); err != nil {
		return nil, err
	}
	most := counters.NodeSize + (id.Size*counters.PeerSize+chunk-1)/chunk*chunk
	memory, err := sys.MapFile(file, most)
	if err != nil {
		return nil, err
	}
	f = &File{place: p, job: id.Job, rank: rank, file: file, memory: memory, size: counters.NodeSize}
	f.Page = counters.Over(memory[:counters.NodeSize], id, f.grow)
	if err := dir.Rename(draft, rank); err != nil {
		_ = sys.Unmap(memory)
		return nil, err
	}
	return f, nil
}

// grow makes the file longer, and returns the new memory, or nil.
func (f *File) grow() []byte {
	if f.size == len(f.memory) || sys.Extend(f.file, int64(f.size), chunk) != nil {
		return nil
	}
	f.size += chunk
	return f.memory[f.size-chunk : f.size]
}

// Snapshot returns what the page says now. Nothing may be counted meanwhile.
func (f *File) Snapshot() (*counters.Snapshot, error) { return counters.Parse(f.memory[:f.size]) }

// Close removes the file, and the directory of the job if it was the last. The process can go on
// using the page; no other process can read it.
func (f *File) Close() error {
	dir, err := f.place.openJob(f.job)
	if err == nil {
		err = dir.Remove(f.rank)
		dir.Close()
	}
	f.place.removeEmpty(f.job)
	return errors.Join(err, f.file.Close())
}

// Unmap takes the memory of the page back after Close. Nothing may use the page any more.
func (f *File) Unmap() { _ = sys.Unmap(f.memory) }
