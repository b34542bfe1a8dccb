// Pm measures PM as pmtest of SCore does. With -ping it prints the length and the round-trip time of
// messages to another node; with -burst the length and the bytes per second of messages that it
// sends as fast as possible; with -vwrite the same of writes to the other node's memory. The other
// node replies, or only receives.
//
//	weft run -n 2 ./examples/pm -ping
//	weft run -n 2 -transport udp ./examples/pm -burst -len 8192
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"weft"
	"weft/pm"
)

// A test says what is measured.
type test struct {
	ping, burst, vwrite bool
	dest, len, iter     int
}

func main() {
	var t test
	flag.BoolVar(&t.ping, "ping", false, "measure round trips; the default")
	flag.BoolVar(&t.burst, "burst", false, "measure bandwidth of messages")
	flag.BoolVar(&t.vwrite, "vwrite", false, "measure bandwidth of writes to memory")
	flag.IntVar(&t.dest, "dest", 1, "the node that node 0 talks to")
	flag.IntVar(&t.len, "len", 8, "bytes of each message")
	flag.IntVar(&t.iter, "iter", 10000, "messages")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return t.run(ctx, p, os.Stdout) })
}

func (t test) run(ctx context.Context, p *weft.Proc, out io.Writer) error {
	if t.dest < 1 || t.dest >= p.Size() {
		return fmt.Errorf("-dest %d: must be a node from 1 to %d", t.dest, p.Size()-1)
	}
	x, err := pm.Open(ctx, p, 1, nil)
	if err != nil {
		return err
	}
	defer x.Close()
	switch p.Rank() {
	case 0:
		err = t.measure(ctx, p, x, out)
	case t.dest:
		err = t.answer(ctx, x)
	}
	if err != nil {
		return err
	}
	return p.Barrier("end", nil).Wait(ctx)
}

func (t test) measure(ctx context.Context, p *weft.Proc, x *pm.Context, out io.Writer) error {
	start := p.Now()
	switch {
	case t.vwrite:
		if err := t.write(ctx, x); err != nil {
			return err
		}
	case t.burst:
		for range t.iter {
			if err := send(x, t.dest, t.len); err != nil {
				return err
			}
		}
		if err := again(x.SendDone); err != nil {
			return err
		}
	default:
		for range t.iter {
			if err := errors.Join(send(x, t.dest, t.len), receive(x)); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(out, "%d %v\n", t.len, (p.Now()-start)/time.Duration(t.iter))
		return err
	}
	_, err := fmt.Fprintf(out, "%d %.4g\n", t.len, float64(t.len)*float64(t.iter)/(p.Now()-start).Seconds())
	return err
}

// write writes into the memory whose handle the other node sends.
func (t test) write(ctx context.Context, x *pm.Context) error {
	_, here, err := x.MLock(ctx, t.dest, t.len)
	if err != nil {
		return err
	}
	var there pm.Handle
	if err := take(x, there.UnmarshalBinary); err != nil {
		return err
	}
	for range t.iter {
		if err := again(func() error { return x.Write(ctx, there, here, t.len) }); err != nil {
			return err
		}
	}
	return again(x.WriteDone)
}

// answer replies, or is the sink.
func (t test) answer(ctx context.Context, x *pm.Context) error {
	switch {
	case t.vwrite:
		_, h, err := x.MLock(ctx, 0, t.len)
		if err != nil {
			return err
		}
		b, err := h.MarshalBinary()
		if err != nil {
			return err
		}
		buf, err := x.GetSendBuffer(0, len(b))
		if err != nil {
			return err
		}
		copy(buf, b)
		return x.Send()
	case t.burst:
		for range t.iter {
			if err := receive(x); err != nil {
				return err
			}
		}
	default:
		for range t.iter {
			if err := errors.Join(receive(x), send(x, 0, t.len)); err != nil {
				return err
			}
		}
	}
	return nil
}

// again tries until it need not.
func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
	}
}

// send sends n bytes. A program in which others send to this node as well would receive while there is no buffer.
func send(x *pm.Context, node, n int) error {
	err := again(func() error {
		_, err := x.GetSendBuffer(node, n)
		return err
	})
	if err != nil {
		return err
	}
	return x.Send()
}

func receive(x *pm.Context) error { return take(x, func([]byte) error { return nil }) }

// take receives a message and hands it to f.
func take(x *pm.Context, f func(b []byte) error) error {
	for {
		b, _, err := x.Receive()
		if err == nil {
			return errors.Join(f(b), x.ReleaseReceiveBuffer())
		}
		if !errors.Is(err, weft.ErrWouldBlock) {
			return err
		}
	}
}
