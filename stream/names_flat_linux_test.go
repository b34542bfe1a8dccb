package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"weft"
	"weft/internal/explore"
	"weft/internal/waittest"
)

// TestConnectionsAreFlat: a connection that both ends have closed leaves nothing behind, on one host and in a job.
func TestConnectionsAreFlat(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector keeps memory of its own")
	}
	const most = 100 // bytes a connection
	t.Run("host", func(t *testing.T) {
		l := listenAt(t, new(Config))
		go serveEcho(l)
		waittest.FlatNames(t, explore.Choose(300, 50_000), most, func(from, to int) {
			for range to - from {
				speak(t, func() (net.Conn, error) { return Dial(t.Context(), l.Addr().String()) })
			}
		})
	})
	t.Run("job", func(t *testing.T) {
		err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
			network, err := Open(p, 1)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				l, err := network.Listen()
				if err != nil {
					return err
				}
				go serveEcho(l)
				for range p.Deaths(ctx) { // rank 0 has returned
					break
				}
				return l.Close()
			}
			waittest.FlatNames(t, explore.Choose(1000, 50_000), most, func(from, to int) {
				for range to - from {
					speak(t, func() (net.Conn, error) { return network.Dial(ctx, 1) })
				}
			})
			return nil
		})
		if err != nil && !errors.Is(err, weft.ErrPeer) {
			t.Error(err)
		}
	})
}

// serveEcho sends back what comes on each connection, until there are no more.
func serveEcho(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}

// speak makes a connection, has something come back, and closes it.
func speak(t *testing.T, dial func() (net.Conn, error)) {
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := []byte("something")
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
}
