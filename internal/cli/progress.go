package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Progress returns a function that shows on a terminal what is being measured.
func Progress() func(round int, system string) {
	if !Watched() {
		return func(int, string) {}
	}
	start := time.Now()
	return func(round int, system string) {
		fmt.Fprintf(os.Stderr, "\r\033[K%4.0fs  round %d: %s ", time.Since(start).Seconds(), round+1, system)
	}
}

// Watched reports whether standard error is a terminal.
func Watched() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// ProgressEnds clears the line that Progress wrote.
func ProgressEnds() {
	if Watched() {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
}

// PrintJSON prints one object a line.
func PrintJSON[T any](rows []T) error {
	enc := json.NewEncoder(os.Stdout)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Absolute returns the absolute path of a file, and "" for "".
func Absolute(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}
