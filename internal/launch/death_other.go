//go:build !linux

package launch

import "syscall"

// dieWithParent does nothing here: the guard alone must do.
func dieWithParent(a *syscall.SysProcAttr) {}
