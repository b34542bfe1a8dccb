package sys

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// InNetwork runs f in a network namespace, given by its file: on this thread,
// and with it what f starts.
func InNetwork(path string, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer here.Close()
	there, err := os.Open(path)
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("weft: network namespace %s: %w", path, err)
	}
	err = f()
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		runtime.LockOSThread() // this thread is of no use to others: it ends with its goroutine
		return fmt.Errorf("weft: leaving network namespace %s: %w", path, back)
	}
	return err
}
