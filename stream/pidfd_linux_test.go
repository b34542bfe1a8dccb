package stream

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPIDFD: both ends of a connection open the other's process, on the socket and in memory; when it has been killed
// the descriptor says so, and no other is opened.
func TestPIDFD(t *testing.T) {
	for _, memory := range []bool{false, true} {
		l := listenAt(t, new(Config))
		c := start(t, "write", l.Addr().String(), "1")
		c.expect(t, "written")
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		f, err := accepted.(*Conn).PIDFD()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.PidfdSendSignal(int(f.Fd()), unix.SIGKILL, nil, 0); err != nil {
			t.Error(err)
		}
		c.Wait()
		if err := unix.PidfdSendSignal(int(f.Fd()), 0, nil, 0); !errors.Is(err, unix.ESRCH) {
			t.Errorf("a signal to the process that has ended: %v", err)
		}
		dialled, accepted2 := pair(t, configs[map[bool]string{true: "default", false: "early"}[memory]])
		for _, c := range []*Conn{dialled, accepted2} {
			f, err := c.PIDFD()
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		accepted2.Close()
		if f, err := dialled.PIDFD(); memory && !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("after the end of the connection, which is in memory: %v, %v", f, err)
		}
	}
}
