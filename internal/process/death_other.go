//go:build !linux

package process

import "syscall"

// dieWithParent does nothing here: the guard alone must do.
func dieWithParent(a *syscall.SysProcAttr) {}
