package weft

import (
	"errors"
	"fmt"
	"os"
)

// createFresh makes a file that only this user may read, and in which nobody else has a
// hand: it takes the place of an ordinary file of that name, but no link is followed and
// nothing else is overwritten.
func createFresh(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is there already, and is no ordinary file: %s", name, info.Mode())
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// A recording is the file of what goes into the engine. Whoever holds the node's lock
// writes.
type recording struct {
	file *os.File
	err  error // the first failure to write
}

func (r *recording) Write(b []byte) (int, error) {
	n, err := r.file.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// Close closes the file, and returns why it is not whole.
func (r *recording) Close() error {
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("weft: %s: the recording is not whole: %w", envRecord, err)
	}
	return nil
}

// envRecord names the file into which what goes into the engine is recorded;
// the rank is appended.
const envRecord = "WEFT_RECORD"

func (p *Proc) startRecording() error {
	name := os.Getenv(envRecord)
	if name == "" {
		return nil
	}
	f, err := createFresh(fmt.Sprintf("%s.%d", name, p.job.Rank))
	if err != nil {
		return fmt.Errorf("weft: %s: %w", envRecord, err)
	}
	p.record = &recording{file: f}
	return nil
}
