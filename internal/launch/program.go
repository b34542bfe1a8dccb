package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Resolve returns the executable that a word on the command line means: an
// executable file or command, or a Go package, which is built into a new
// directory first. The directory is the caller's to remove, or "".
func Resolve(word string) (program, temp string, err error) {
	info, statErr := os.Stat(word)
	isDir := statErr == nil && info.IsDir()
	if !isDir {
		name := word
		if statErr == nil && !strings.ContainsRune(word, filepath.Separator) {
			name = "./" + word // a file in this directory comes before $PATH
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, "", nil
		}
		if statErr == nil {
			return "", "", fmt.Errorf("weft: %s is neither executable nor a Go package", word)
		}
		if !strings.Contains(word, "/") {
			return "", "", fmt.Errorf("weft: %s: no such command in $PATH, file or Go package", word)
		}
	}
	temp, err = os.MkdirTemp("", "weft-run-")
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(temp, strings.TrimSuffix(filepath.Base(word), "..."))
	if filepath.Base(word) == "." || filepath.Base(word) == ".." {
		program = filepath.Join(temp, "program")
	}
	pkg := word
	if isDir && !filepath.IsAbs(word) && !strings.HasPrefix(word, ".") {
		pkg = "./" + word
	}
	build := exec.Command("go", "build", "-o", program, pkg)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		os.RemoveAll(temp)
		return "", "", fmt.Errorf("weft: go build %s: %w", pkg, err)
	}
	return program, temp, nil
}
