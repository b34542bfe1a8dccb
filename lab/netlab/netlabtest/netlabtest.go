// Package netlabtest makes the hosts of package netlab for tests.
//
// Tested in the tests that use it: those of package weft, of cmd/weft, and of the transports udp and eth.
package netlabtest

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"

	"weft/internal/explore"
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
	if err := tryHosts(); errors.Is(err, os.ErrPermission) {
		t.Skip(err) // as in a container without privileges
	} else if err != nil {
		t.Fatal(err)
	}
}

// tryHosts makes two hosts, once, and removes them.
var tryHosts = sync.OnceValue(func() error {
	l, err := netlab.Make(2, 1500)
	if err != nil {
		return err
	}
	return l.Remove()
})

// AtLength is Need for a test that takes long: such a test runs in rounds of exploration alone.
func AtLength(t testing.TB) {
	t.Helper()
	Need(t)
	if explore.Round() == 0 {
		t.Skip("it takes long: set WEFT_EXPLORE=1, too")
	}
}

// Alone waits until no other process is in a test of a name, such as that of another gate, and keeps others out until
// the test ends.
func Alone(t testing.TB, name string) {
	t.Helper()
	var held net.Listener
	Until(t, "no other process is in a test of "+name, func() (any, bool) {
		l, err := net.Listen("unix", "@weft-test-"+name)
		held = l
		return err, err == nil
	})
	t.Cleanup(func() { held.Close() })
}

// New returns the hosts that a function makes, and removes them at the end of the test. It skips the test where
// network namespaces cannot be made: that needs root.
func New(t testing.TB, hosts func() (*netlab.Lab, error)) *netlab.Lab {
	t.Helper()
	Need(t)
	l, err := hosts()
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
