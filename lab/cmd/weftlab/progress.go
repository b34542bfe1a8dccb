package main

import (
	"fmt"
	"os"
	"time"
)

// seldom is how often what is being measured is written to what is no terminal.
const seldom = 10 * time.Second

// progress returns a function that shows on standard error what is being measured.
func progress() func(round int, system string) {
	start := time.Now()
	if !watched() {
		said := start
		return func(round int, system string) {
			if now := time.Now(); now.Sub(said) >= seldom {
				said = now
				fmt.Fprintf(os.Stderr, "%4.0fs  round %d: %s\n", now.Sub(start).Seconds(), round+1, system)
			}
		}
	}
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
