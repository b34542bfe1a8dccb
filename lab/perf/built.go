package perf

import (
	"os"
	"path/filepath"
	"sync"
)

// built holds the programs compiled so far, in a temporary directory.
var built struct {
	sync.Mutex
	dir   string
	files map[string]string
}

// Cleanup removes the programs that were compiled for measurements.
func Cleanup() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	built.dir = ""
	built.files = nil
}

// buildOnce returns the file of a program, which build makes on the first call.
func buildOnce(name string, build func(file string) error) (string, error) {
	built.Lock()
	defer built.Unlock()
	if f := built.files[name]; f != "" {
		return f, nil
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "weft-perf-")
		if err != nil {
			return "", err
		}
		built.dir = dir
		built.files = map[string]string{}
	}
	file := filepath.Join(built.dir, name)
	if err := build(file); err != nil {
		return "", err
	}
	built.files[name] = file
	return file, nil
}
