package match

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"weft"
	"weft/internal/waittest"
)

// A rig is rank 0 of four in this process, with a Matcher, and what all send it.
type rig struct {
	*testing.T
	*Matcher
	ctx     context.Context
	senders [4]*weft.Sender
}

func newRig(t testing.TB, cfg *Config, box *weft.MailboxConfig) *rig {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	r := &rig{ctx: ctx}
	r.T, _ = t.(*testing.T)
	over := make(chan bool)
	ended := make(chan error)
	var ready sync.WaitGroup
	ready.Add(4)
	go func() {
		ended <- weft.Local(ctx, 4, func(ctx context.Context, p *weft.Proc) error {
			if p.Rank() == 0 {
				box, err := p.OpenMailbox("in", box)
				if err != nil {
					return err
				}
				r.Matcher = New(p, box, cfg)
			}
			var err error
			if r.senders[p.Rank()], err = p.AttachMailbox(ctx, 0, "in"); err != nil {
				return err
			}
			ready.Done()
			<-over
			return nil
		})
	}()
	ready.Wait()
	t.Cleanup(func() {
		close(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		cancel()
	})
	return r
}

// send returns when the message has arrived.
func (r *rig) send(from int, tag uint64, data string) {
	r.Helper()
	if err := r.senders[from].PushTagged(r.ctx, tag, []byte(data)); err != nil {
		r.Error(err)
	}
}

func (r *rig) want(want string, d weft.Delivery, err error) {
	r.Helper()
	if err != nil || string(d.Data) != want {
		r.Fatalf("%q, %v; want %q", d.Data, err, want)
	}
	d.Release()
}

// sleeping waits until so many goroutines wait for messages.
func (r *rig) sleeping(n int) {
	r.Helper()
	waittest.Until(r, fmt.Sprintf("%d goroutines wait", n), func() bool {
		r.Matcher.mu.Lock()
		defer r.Matcher.mu.Unlock()
		return len(r.waiting) == n && (r.driving || n == 0)
	})
}

// die has the mailbox report a death.
func (r *rig) die(rank int) {
	r.Matcher.mu.Lock()
	defer r.Matcher.mu.Unlock()
	if !r.died(&weft.PeerError{Rank: rank, Cause: errors.New("killed")}) {
		r.Error("not a death")
	}
}

func (r *rig) wantDeath(rank int, err error) {
	r.Helper()
	var gone *weft.PeerError
	if !errors.As(err, &gone) || gone.Rank != rank || gone.Clean {
		r.Fatalf("%v; want the death of rank %d", err, rank)
	}
}
