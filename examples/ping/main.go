// Ping measures how long a message takes to rank 1 and back.
//
//	weft run -n 2 ./examples/ping
//	weft run -n 2 -transport udp ./examples/ping -size 1024 -count 5000
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"weft"
)

func main() {
	size := flag.Int("size", 8, "bytes of each message")
	count := flag.Int("count", 10000, "round trips")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return ping(ctx, p, os.Stdout, *size, *count) })
}

func ping(ctx context.Context, p *weft.Proc, out io.Writer, size, count int) error {
	if p.Size() < 2 {
		return fmt.Errorf("ping needs 2 ranks: weft run -n 2 ./examples/ping")
	}
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	defer port.Close()
	buf := make([]byte, size)
	switch p.Rank() {
	case 0:
		return asks(ctx, p, port, out, buf, count)
	case 1:
		return answers(ctx, port, buf, count)
	default: // the others have nothing to do
		return nil
	}
}

func answers(ctx context.Context, port *weft.Port, buf []byte, count int) error {
	for range count {
		n, from, err := port.RecvInto(ctx, buf)
		if err != nil {
			return err
		}
		if err := port.Send(ctx, from, buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

func asks(ctx context.Context, p *weft.Proc, port *weft.Port, out io.Writer, buf []byte, count int) error {
	peer, err := p.Connect(ctx, 1)
	if err != nil {
		return err
	}
	times := make([]time.Duration, count)
	for i := range times {
		start := p.Now()
		if err := port.Send(ctx, 1, buf); err != nil {
			return err
		}
		if _, err := port.RecvIntoFrom(ctx, 1, buf); err != nil {
			return err
		}
		times[i] = p.Now() - start
	}
	slices.Sort(times)
	at := func(q float64) time.Duration { return times[min(int(q*float64(count)), count-1)] }
	_, err = fmt.Fprintf(out, "%d round trips of %d bytes over %s (%s): median %v, 99%% within %v, slowest %v\n",
		count, len(buf), peer.Transport, peer.Why, at(0.5), at(0.99), times[count-1])
	return err
}
