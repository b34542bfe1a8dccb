package launch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Resolve returns the executable that a word on the command line names: a file, a command in $PATH, or a Go package,
// which Resolve builds into the new directory temp. The caller removes temp, which is "" otherwise. When ctx ends, the
// build is given up.
func Resolve(ctx context.Context, word string) (program, temp string, err error) {
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
	return build(ctx, word, isDir)
}

// build builds a Go package in a new directory. If it fails, or ctx ends, it removes the directory.
func build(ctx context.Context, word string, isDir bool) (program, temp string, err error) {
	temp, err = os.MkdirTemp("", "weft-run-")
	if err != nil {
		return "", "", fmt.Errorf("weft: a directory to build %s in: %w", word, err)
	}
	program = filepath.Join(temp, strings.TrimSuffix(filepath.Base(word), "..."))
	if filepath.Base(word) == "." || filepath.Base(word) == ".." {
		program = filepath.Join(temp, "program")
	}
	pkg := word
	if isDir && !filepath.IsAbs(word) && !strings.HasPrefix(word, ".") {
		pkg = "./" + word
	}
	if err := buildInto(ctx, program, pkg); err != nil {
		os.RemoveAll(temp)
		return "", "", err
	}
	return program, temp, nil
}

func buildInto(ctx context.Context, program, pkg string) error {
	var said bytes.Buffer
	build := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	build.Stdout = &said
	build.Stderr = &said
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	build.WaitDelay = time.Second
	if err := build.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return &BuildError{pkg, strings.TrimSpace(said.String()), err}
	}
	// For a package that is not main, go build writes an archive or nothing.
	if info, err := os.Stat(program); err != nil || info.Mode()&0o111 == 0 || info.IsDir() {
		return fmt.Errorf("weft: %s is no program: there is no package main in it", pkg)
	}
	return nil
}

// A BuildError reports that a Go package could not be built.
type BuildError struct {
	Package string
	Said    string // output of the go command
	Err     error
}

func (e *BuildError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("weft: go build %s: %v", e.Package, e.Err)
	}
	return fmt.Sprintf("weft: go build %s: %v\n%s", e.Package, e.Err, e.Said)
}

// Unwrap returns the error of the go command.
func (e *BuildError) Unwrap() error { return e.Err }
