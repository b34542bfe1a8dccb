package am

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"weft"
	"weft/internal/endpoint"
)

// FuzzHandle: whatever another rank sends, handlers get only what lies in the message and in the segment.
func FuzzHandle(f *testing.F) {
	es := pair(f, func() []Handler {
		return []Handler{{Name: "sum", Func: func(c *Call) error {
			sum := byte(0)
			for _, b := range c.Data {
				sum += b
			}
			return c.Reply(1, uint64(sum))
		}}, {Name: "end", Func: func(c *Call) error { return nil }}}
	})
	for kind := kindRequest; kind <= kinds; kind++ {
		for n := range byte(6) {
			f.Add(kind, n, uint16(n), bytes.Repeat([]byte{1}, 8*int(n)))
			f.Add(kind, n, uint16(0), bytes.Repeat([]byte{255}, 16+8*int(n)))
			f.Add(kind, n, uint16(1), make([]byte, 24+8*int(n)))
		}
	}
	f.Fuzz(func(t *testing.T, kind, n byte, h uint16, rest []byte) {
		b := make([]byte, endpoint.HeadSize, longest)
		es[1].ep.Head(b, max(kind, endpoint.FirstKind), n, h)
		b = append(b, rest[:min(len(rest), longest-len(b))]...)
		if err := es[0].ep.Port.Send(t.Context(), 1, b); err != nil {
			t.Fatal(err)
		}
		if err := es[1].Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*Endpoint{es[1], es[0]} {
			if err := e.Poll(); errors.Is(err, ErrReturned) {
				t.Fatal(err) // there was no request
			}
		}
	})
}

// pair returns the endpoints of two ranks, each of which goes on until the test is over.
func pair(f *testing.F, table func() []Handler) (es [2]*Endpoint) {
	over := make(chan bool)
	ended := make(chan error)
	var ready sync.WaitGroup
	ready.Add(2)
	go func() {
		ended <- weft.Local(context.Background(), 2, func(ctx context.Context, p *weft.Proc) (err error) {
			es[p.Rank()], err = Open(ctx, p, 1, table(), &Config{Segment: 4096})
			ready.Done()
			<-over
			return err
		})
	}()
	ready.Wait()
	f.Cleanup(func() {
		close(over)
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	return es
}
