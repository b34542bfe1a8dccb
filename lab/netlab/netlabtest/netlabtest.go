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

// New returns the hosts that a function makes, and removes them at the end of the test. It skips the test where
// network namespaces cannot be made: that needs root.
func New(t testing.TB, hosts func() (*netlab.Lab, error)) *netlab.Lab {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("hosts are network namespaces, which only root can make")
	}
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
