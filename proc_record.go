package weft

import (
	"errors"
	"fmt"
	"os"
)

// createFresh makes a new file that only this user may read and write. It replaces an ordinary
// file of the same name. It follows no link, and replaces nothing but an ordinary file.
func createFresh(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s exists and is not an ordinary file (%s): remove it, or choose another name", name,
				info.Mode())
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// A recording is the file into which the inputs of the engine are recorded. The goroutine that
// holds the node's lock writes it.
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

// Close closes the file, and returns an error if the recording is not complete.
func (r *recording) Close() error {
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("weft: %s: the recording is incomplete: %w", envRecord, err)
	}
	return nil
}

// envRecord names the file into which the inputs of the engine are recorded. The rank is
// appended to the name.
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
