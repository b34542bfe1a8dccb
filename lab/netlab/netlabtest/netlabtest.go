// Package netlabtest makes the hosts of package netlab for tests.
//
// Tested in the tests that use it: those of package weft, of cmd/weft, and of the transports udp and eth.
package netlabtest

import (
	"errors"
	"os"
	"testing"

	"weft/lab/netlab"
)

// Need skips a test that makes hosts unless WEFT_HOSTS=1 asks for such tests. They need root, and minutes.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv("WEFT_HOSTS") == "" {
		t.Skip("set WEFT_HOSTS=1 for tests that make hosts (network namespaces)")
	}
	if os.Getuid() != 0 {
		t.Skip("hosts are network namespaces, which only root can make")
	}
}

// New returns the hosts that a function makes, and removes them at the end of the test. It skips the test where
// network namespaces cannot be made: that needs root.
func New(t testing.TB, hosts func() (*netlab.Lab, error)) *netlab.Lab {
	t.Helper()
	Need(t)
	l, err := hosts()
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Remove(); err != nil {
			t.Error(err)
		}
	})
	return l
}
