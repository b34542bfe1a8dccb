package main

import (
	"fmt"
	"os"
	"time"
)

// progress returns a function that shows on a terminal what is being measured.
func progress() func(round int, system string) {
	if !watched() {
		return func(int, string) {}
	}
	start := time.Now()
	return func(round int, system string) {
		fmt.Fprintf(os.Stderr, "\r\033[K%4.0fs  round %d: %s ", time.Since(start).Seconds(), round+1, system)
	}
}

// watched reports whether standard error is a terminal.
func watched() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// progressEnds clears the line that progress wrote.
func progressEnds() {
	if watched() {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
}
