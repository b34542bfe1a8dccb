package record

import (
	"os"
	"testing"
)

// A recording that cannot be written is not lost in silence.
func TestRecordingIsNotWhole(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	r := &File{file: full}
	_, _ = r.Write([]byte("x"))
	if err := r.Close(); err == nil {
		t.Error("no word of it")
	}
}
