package stream

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"
)

// connect returns both ends of a new connection: the one that dial makes, and the one that l
// accepts. The end of the test closes them.
func connect[C net.Conn](t testing.TB, l net.Listener, dial func() (C, error)) (dialled, accepted C) {
	t.Helper()
	dialled, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		dialled.Close()
		c.Close()
	})
	return dialled, c.(C)
}

// testConn runs x/net's test of connections on the connections that pair makes.
func testConn[C net.Conn](t *testing.T, pair func() (dialled, accepted C)) {
	t.Helper()
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		dialled, accepted := pair()
		return dialled, accepted, func() {
			dialled.Close()
			accepted.Close()
		}, nil
	})
}
