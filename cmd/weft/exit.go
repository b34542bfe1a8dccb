package main

import (
	"errors"
	"os/exec"
	"syscall"
)

// exitOf returns how a program that a command has run has ended, as the command's own exit status:
// 128 + the signal's number after a signal, as shells report it. Other errors stay as they are.
func exitOf(err error) error {
	ended := new(exec.ExitError)
	if !errors.As(err, &ended) {
		return err
	}
	if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return exit(128 + int(s.Signal()))
	}
	return exit(ended.ExitCode())
}
