package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"weft/internal/process"
)

// Resolve returns the executable that a word on the command line names: a file, a command in $PATH, or a Go package,
// which Resolve builds into a new directory. The caller calls release when it needs the program no longer: release
// removes that directory, and a guard does when this process is killed. When ctx ends, the build is given up.
func Resolve(ctx context.Context, word string) (program string, release func(), err error) {
	info, statErr := os.Stat(word)
	isDir := statErr == nil && info.IsDir()
	if !isDir {
		name := word
		if statErr == nil && !strings.ContainsRune(word, filepath.Separator) {
			name = "./" + word // a file in this directory comes before $PATH
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, func() {}, nil
		}
		if statErr == nil {
			return "", nil, fmt.Errorf("weft: %s is neither executable nor a Go package", word)
		}
		if !strings.Contains(word, "/") {
			return "", nil, fmt.Errorf("weft: %s: no such command in $PATH, file or Go package", word)
		}
	}
	return build(ctx, word, isDir)
}

// build builds a Go package in a new directory. If it fails, or ctx ends, it removes the directory.
func build(ctx context.Context, word string, isDir bool) (program string, release func(), err error) {
	temp, err := os.MkdirTemp("", "weft-run-")
	if err != nil {
		return "", nil, fmt.Errorf("weft: a directory to build %s in: %w", word, err)
	}
	host, err := process.Open(temp)
	if err != nil {
		os.RemoveAll(temp)
		return "", nil, err
	}
	release = sync.OnceFunc(func() { _ = host.Close() })
	program = filepath.Join(temp, strings.TrimSuffix(filepath.Base(word), "..."))
	if filepath.Base(word) == "." || filepath.Base(word) == ".." {
		program = filepath.Join(temp, "program")
	}
	pkg := word
	if isDir && !filepath.IsAbs(word) && !strings.HasPrefix(word, ".") {
		pkg = "./" + word
	}
	if err := buildInto(ctx, host, program, pkg); err != nil {
		release()
		return "", nil, err
	}
	return program, release, nil
}

func buildInto(ctx context.Context, host *process.Host, program, pkg string) error {
	var said bytes.Buffer
	order := process.Order{
		Program: "go", Args: []string{"build", "-o", program, pkg}, Env: []string{"GOTMPDIR=" + filepath.Dir(program)},
	}
	exits := make(chan process.Exit, 1)
	_, err := host.Start(order, process.Streams{Stderr: func(from io.Reader) { _, _ = said.ReadFrom(from) }},
		func(e process.Exit) { exits <- e })
	if err != nil {
		return &BuildError{Package: pkg, Err: err}
	}
	select {
	case e := <-exits:
		if e.Status != 0 {
			return &BuildError{pkg, strings.TrimSpace(said.String()), errors.New(e.Cause)}
		}
	case <-ctx.Done():
		host.Signal(order.ID, syscall.SIGKILL)
		<-exits
		return &BuildError{Package: pkg, Err: context.Cause(ctx)}
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
