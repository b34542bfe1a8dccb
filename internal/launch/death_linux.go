package launch

import "syscall"

// dieWithParent makes the kernel kill a process when its launcher ends.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
