package record

import (
	"errors"
	"fmt"
	"os"

	"weft/internal/sys"
)

// A File is the file into which a process records. The goroutine that holds the node's lock writes it.
type File struct {
	file *os.File
	err  error // the first failure to write
}

// Create makes a new file; see sys.CreateFresh.
func Create(name string) (*File, error) {
	f, err := sys.CreateFresh(name)
	return &File{file: f}, err
}

func (r *File) Write(b []byte) (int, error) {
	n, err := r.file.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// Close closes the file, and returns an error if the recording is not complete.
func (r *File) Close() error {
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("%s: the recording is incomplete: %w", r.file.Name(), err)
	}
	return nil
}
