package sys

import (
	"bytes"
	"fmt"
	"os"
)

// ProcSize returns the size in bytes that a file of /proc gives under a name, as "MemTotal:  1024 kB" does; 0 if it
// does not.
func ProcSize(file, name string) uint64 {
	text, _ := os.ReadFile(file) // elsewhere there is none
	var kib uint64
	if _, rest, ok := bytes.Cut(text, []byte(name+":")); ok {
		_, _ = fmt.Sscan(string(rest), &kib)
	}
	return kib << 10
}
