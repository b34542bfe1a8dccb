package weft

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"weft/internal/waittest"
)

// within returns a context that ends the test if something hangs.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	t.Cleanup(cancel)
	return ctx
}

func TestMessagesArriveInOrder(t *testing.T) {
	const each = 300
	real(t, 4, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(7, nil)
		if err != nil {
			return err
		}
		sizes := []int{0, 1, 8, 100, 5000, 40000, 200000}
		fail := make(chan error, 1)
		go func() {
			b := make([]byte, 1<<18)
			for i := range each {
				for to := range p.Size() {
					n := sizes[i%len(sizes)]
					for j := range n {
						b[j] = byte(i)
					}
					if err := q.Send(ctx, to, b[:n]); err != nil {
						fail <- err
						return
					}
				}
			}
			fail <- nil
		}()
		next := make([]int, p.Size())
		for range each * p.Size() {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			i := next[m.From]
			next[m.From]++
			if len(m.Data) != sizes[i%len(sizes)] || len(m.Data) > 0 &&
				(m.Data[0] != byte(i) || m.Data[len(m.Data)-1] != byte(i)) {
				return fmt.Errorf("message %d of rank %d has %d bytes", i, m.From, len(m.Data))
			}
			m.Release()
		}
		if err := <-fail; err != nil {
			return err
		}
		return q.Flush(ctx)
	})
}

// A receiver that does not receive holds its senders back, and nobody else.
func TestSlowReceiverBoundsMemory(t *testing.T) {
	for flow, name := range FlowControls() {
		t.Run(name, func(t *testing.T) {
			const each = 4000
			ready := make(chan struct{})
			err := Local(within(t), 3, func(ctx context.Context, p *Proc) error {
				q, err := p.OpenPort(1, &PortConfig{RecvBuffer: 64 << 10, SendBuffer: 128 << 10, Flow: FlowControl(flow)})
				if err != nil {
					return err
				}
				if p.Rank() > 0 {
					b := make([]byte, 200)
					for i := range each {
						if i == each/2 && p.Rank() == 1 {
							close(ready)
						}
						binary.LittleEndian.PutUint64(b, uint64(i))
						if err := q.Send(ctx, 0, b); err != nil {
							return err
						}
						if i < 300 {
							continue
						}
					}
					return q.Flush(ctx)
				}
				next := [3]uint64{}
				for range 2 * each {
					m, err := q.Recv(ctx)
					if err != nil {
						return err
					}
					if v := binary.LittleEndian.Uint64(m.Data); v != next[m.From] {
						return fmt.Errorf("message %d of rank %d, want %d", v, m.From, next[m.From])
					}
					next[m.From]++
					m.Release()
				}
				if s := p.Stats(); s.MemoryBytes > 4<<20 {
					return fmt.Errorf("%d bytes held", s.MemoryBytes)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestReceiveForms(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(3, nil)
		if err != nil {
			return err
		}
		big := bytes.Repeat([]byte("weft"), 50000)
		if p.Rank() == 1 {
			d, err := q.Reserve(ctx, 0, 5)
			if err != nil {
				return err
			}
			copy(d.Data, "hello")
			if err := d.Commit(ctx); err != nil {
				return err
			}
			if err := q.Send(ctx, 0, big); err != nil {
				return err
			}
			d, err = q.Reserve(ctx, 0, len(big))
			if err != nil {
				return err
			}
			copy(d.Data, big)
			if err := d.Commit(ctx); err != nil {
				return err
			}
			for q.TrySend(0, []byte("tried")) != nil {
			}
			return q.Flush(ctx)
		}
		short := make([]byte, 3)
		_, _, err = q.RecvInto(ctx, short)
		var long *TooLongError
		if !errors.As(err, &long) || long.Size != 5 || !errors.Is(err, ErrTooLong) {
			return fmt.Errorf("into 3 bytes: %v", err)
		}
		buf := make([]byte, len(big))
		n, from, err := q.RecvInto(ctx, buf)
		if err != nil || from != 1 || string(buf[:n]) != "hello" {
			return fmt.Errorf("%q from %d: %v", buf[:n], from, err)
		}
		if _, _, err := q.RecvInto(ctx, short); !errors.As(err, &long) || long.Size != len(big) {
			return fmt.Errorf("long message into 3 bytes: %v", err)
		}
		if n, err = q.RecvIntoFrom(ctx, 1, buf); err != nil || !bytes.Equal(buf[:n], big) {
			return fmt.Errorf("%d bytes: %v", n, err)
		}
		m, err := q.RecvFrom(ctx, 1)
		if err != nil || !bytes.Equal(m.Data, big) {
			return fmt.Errorf("%d bytes: %v", len(m.Data), err)
		}
		m.Release()
		for {
			m, err := q.TryRecv()
			if errors.Is(err, ErrWouldBlock) {
				continue
			}
			if err != nil || string(m.Data) != "tried" {
				return fmt.Errorf("%q: %v", m.Data, err)
			}
			m.Release()
			return nil
		}
	})
}

func TestPortErrors(t *testing.T) {
	err := Local(within(t), 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(3, &PortConfig{MaxMessage: 100})
		if err != nil {
			return err
		}
		var long *TooLongError
		if err := q.Send(ctx, 0, make([]byte, 101)); !errors.As(err, &long) || long.Limit != 100 {
			return fmt.Errorf("too long: %v", err)
		}
		if _, err := q.Reserve(ctx, 0, 101); !errors.As(err, &long) || long.Size != 101 {
			return fmt.Errorf("draft too long: %v", err)
		}
		if _, err := q.Reserve(ctx, 0, -1); !errors.As(err, new(*ConfigError)) {
			return fmt.Errorf("draft of -1: %v", err)
		}
		var rank *RankError
		if err := q.Send(ctx, 2, nil); !errors.As(err, &rank) || rank.Rank != 2 || rank.Size != 2 ||
			!errors.Is(err, ErrRank) {
			return fmt.Errorf("rank 2: %v", err)
		}
		if err := q.Send(ctx, -1, nil); !errors.Is(err, ErrRank) {
			return fmt.Errorf("rank -1: %v", err)
		}
		if _, err := p.OpenPort(3, nil); !errors.Is(err, ErrInUse) {
			return fmt.Errorf("open twice: %v", err)
		}
		var bad *ConfigError
		if _, err := p.OpenPort(1<<16, nil); !errors.As(err, &bad) {
			return fmt.Errorf("channel 65536: %v", err)
		}
		if _, err := p.OpenPort(4, &PortConfig{RecvBuffer: 10}); !errors.As(err, &bad) || bad.Field != "RecvBuffer" {
			return fmt.Errorf("buffer of 10: %v", err)
		}
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := q.Recv(soon); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("deadline: %v", err)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := q.Recv(gone); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("cancelled: %v", err)
		}
		if err := q.Close(); err != nil {
			return err
		}
		if err := q.Send(ctx, 0, nil); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("closed: %v", err)
		}
		if _, err := q.TryRecv(); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("closed: %v", err)
		}
		return p.Barrier("end", nil).Wait(ctx) // a rank that has returned ends the others' waits
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A send that is given up has not happened: the receiver gets the next one.
func TestCancelledSendIsNotReceived(t *testing.T) {
	given := make(chan struct{})
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			big := make([]byte, 1<<20)
			soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
			defer cancel()
			if err := q.Send(soon, 1, big); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("nobody receives: %v", err)
			}
			for i := range big {
				big[i] = 1
			}
			given <- struct{}{}
			return q.Send(ctx, 1, big[:1<<19])
		}
		<-given
		m, err := q.Recv(ctx)
		if err != nil || len(m.Data) != 1<<19 || m.Data[0] != 1 {
			return fmt.Errorf("%d bytes: %v", len(m.Data), err)
		}
		m.Release()
		return nil
	})
}

func TestManyGoroutines(t *testing.T) {
	const (
		pairs = 8
		each  = 40
	)
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		done := make(chan error, 2*pairs)
		for i := range pairs {
			q, err := p.OpenPort(i, nil)
			if err != nil {
				return err
			}
			p.Go(func() {
				for k := range each {
					b := make([]byte, (i*104729+k*7919)%60000)
					if err := q.Send(ctx, 1-p.Rank(), b); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			})
			p.Go(func() {
				for range each {
					m, err := q.Recv(ctx)
					if err != nil {
						done <- err
						return
					}
					m.Release()
				}
				done <- nil
			})
		}
		for range 2 * pairs {
			if err := <-done; err != nil {
				return err
			}
		}
		return nil
	})
}
