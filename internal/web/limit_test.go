package web

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
)

// An eager listener always has a connection.
type eager struct{ net.Listener }

func (eager) Accept() (net.Conn, error) {
	c, _ := net.Pipe()
	return c, nil
}

func (eager) Close() error { return nil }

// TestConnectionsAreBounded: a connection beyond the limit is accepted when another one has been closed, once.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit(eager{}, 2)
		accepted := make(chan net.Conn, 9)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					if !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					return
				}
				accepted <- c
			}
		}()
		for want := 2; want < 5; want++ {
			synctest.Wait()
			if n := len(accepted); n != 2 {
				t.Fatalf("%d connections", n)
			}
			c := <-accepted
			c.Close()
			c.Close()
		}
		synctest.Wait()
		l.Close()
	})
}
