package weft_test

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"weft"
	"weft/stream"
)

// The connections of package stream are net.Conn in full over every transport.
func TestStreamsOverTransports(t *testing.T) {
	for _, c := range []struct{ transport, guard string }{
		{"shm", ""}, {"udp", ""}, {"tcp", ""}, {"udp", weft.GuardEncrypt}, {"tcp", weft.GuardEncrypt},
	} {
		if weft.RaceEnabled && c.guard != "" {
			continue // guards are made under the node's lock, and the run without the race detector has them
		}
		t.Run(c.transport+c.guard, func(t *testing.T) {
			procs := weft.JoinAll(t, 2, &weft.Config{Transport: c.transport, Guard: c.guard})
			var nets [2]*stream.Network
			for i, p := range procs {
				n, err := stream.Over(t.Context(), p, 5)
				if err != nil {
					t.Fatal(err)
				}
				defer n.Close()
				nets[i] = n
			}
			l, err := nets[1].Listen()
			if err != nil {
				t.Fatal(err)
			}
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				if c1, err = nets[0].Dial(t.Context(), 1); err != nil {
					return nil, nil, nil, err
				}
				if c2, err = l.Accept(); err != nil {
					return nil, nil, nil, err
				}
				return c1, c2, func() {
					c1.Close()
					c2.Close()
				}, nil
			})
		})
	}
}
