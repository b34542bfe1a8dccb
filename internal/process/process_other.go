//go:build !unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// This system has no such signals. They are never used, since socketPair fails.
const (
	stopSignal     = syscall.SIGKILL
	continueSignal = syscall.SIGKILL
)

func ownGroup(*syscall.SysProcAttr, bool) {}

func killGroup(int, syscall.Signal) {}

func readNow(*os.File, []byte) (int, error) { return 0, io.EOF }

func socketPair() (io.ReadWriteCloser, *os.File, error) {
	return nil, nil, fmt.Errorf("weft: ranks as processes need Linux: %w", errors.ErrUnsupported)
}
