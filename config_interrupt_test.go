package weft

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"weft/internal/join"
)

// Goroutines that wait poll for their own calls only, and the service brings the packets, as an
// interrupt does: messages of many goroutines arrive all the same, on every transport.
func TestInterrupt(t *testing.T) {
	t.Setenv(join.EnvInterrupt, "1")
	for _, transport := range []Transport{TransportShm, TransportUDP, TransportTCP} {
		t.Run(string(transport), func(t *testing.T) {
			procs := joinAll(t, 2, &Config{Transport: transport})
			if how := procs[0].Waiting(); !strings.Contains(how, join.EnvInterrupt) {
				t.Errorf("they wait otherwise: %s", how)
			}
			const (
				clients = 4
				rounds  = 50
			)
			err := runAll(within(t), procs, func(ctx context.Context, p *Proc) error {
				done := make(chan error, clients)
				for channel := range clients {
					go func() { done <- pingPong(ctx, p, channel+1, rounds) }()
				}
				for range clients {
					if err := <-done; err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// pingPong sends numbers to the other rank and back, on a port of its own.
func pingPong(ctx context.Context, p *Proc, channel, rounds int) error {
	port, err := p.OpenPort(channel, nil)
	if err != nil {
		return err
	}
	defer port.Close()
	for i := range rounds {
		if p.Rank() == 0 {
			if err := port.Send(ctx, 1, fmt.Append(nil, i)); err != nil {
				return err
			}
		}
		m, err := port.Recv(ctx)
		if err != nil {
			return err
		}
		if got := string(m.Data); got != fmt.Sprint(i) {
			return fmt.Errorf("channel %d: message %d is %q", channel, i, got)
		}
		m.Release()
		if p.Rank() == 1 {
			if err := port.Send(ctx, 0, fmt.Append(nil, i)); err != nil {
				return err
			}
		}
	}
	return nil
}
