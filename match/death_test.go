package match

import (
	"context"
	"errors"
	"testing"

	"weft"
)

// All that wait when the mailbox is closed hear of it.
func TestClosed(t *testing.T) {
	r := newRig(t, nil, nil)
	started, err := r.Start(1, 0, AnyTag)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for from := range 3 {
		go func() {
			_, err := r.Recv(r.ctx, from, 0, AnyTag)
			done <- err
		}()
	}
	go func() {
		_, err := r.Probe(r.ctx, Any, 0, AnyTag)
		done <- err
	}()
	r.sleeping(4)
	if err := r.box.Close(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := <-done; err != weft.ErrClosed {
			t.Error(err)
		}
	}
	if !started.Done() {
		t.Error("not done, but it never will")
	}
	if _, err := started.Wait(r.ctx); err != weft.ErrClosed {
		t.Error(err)
	}
	if _, err := r.TryRecv(Any, 0, AnyTag); err != weft.ErrClosed {
		t.Error(err)
	}
	if s := r.Stats(); s.Posted.Len != 0 {
		t.Errorf("%+v", s)
	}
}

// The death of a rank ends what waits for it, and what is posted later, but what it
// had sent is received. Receives and probes from Any hear of it once, the oldest
// receive first.
func TestDeath(t *testing.T) {
	r := newRig(t, nil, nil)
	driver := make(chan error)
	go func() {
		d, err := r.Recv(r.ctx, 0, 1, Exact)
		d.Release()
		driver <- err
	}()
	r.sleeping(1)
	probed := make(chan error, 3)
	probe := func(source int) {
		_, err := r.Probe(r.ctx, source, 2, Exact)
		probed <- err
	}
	r.send(1, 5, "last")
	if e, err := r.Probe(r.ctx, 1, 5, Exact); err != nil || e != (Envelope{1, 5, 4}) {
		t.Fatal(e, err)
	}
	one := r.post(1)
	two := r.post(2)
	first := r.post(Any)
	second := r.post(Any)
	go probe(1)
	go probe(Any)
	r.sleeping(3)

	r.die(1)
	for _, s := range []*Receive{one, first} {
		if !s.Done() {
			t.Fatal("not done")
		}
		_, err := s.Wait(r.ctx)
		r.wantDeath(1, err)
	}
	r.wantDeath(1, <-probed)
	if two.Done() || second.Done() {
		t.Fatal("done")
	}
	r.receivesFromDead()

	over, cancel := context.WithCancel(r.ctx)
	cancel()
	if _, err := second.Wait(over); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.die(2) // no receive from Any is posted, but a probe
	r.wantDeath(2, <-probed)
	_, err := two.Wait(over)
	r.wantDeath(2, err)
	r.wantNothingYet()
	r.die(3) // nothing from Any is there
	_, err = r.TryRecv(Any, 2, Exact)
	r.wantDeath(3, err)
	r.wantNothingYet()
	r.send(0, 1, "")
	if err := <-driver; err != nil {
		t.Fatal(err)
	}
	if s := r.Stats(); s.Posted.Len+s.Unexpected.Len != 0 || len(r.probes)+len(r.waiting)+len(r.news) != 0 {
		t.Errorf("%+v", s)
	}
}

// post posts a receive with tag 2.
func (r *rig) post(source int) *Receive {
	r.Helper()
	s, err := r.Start(source, 2, Exact)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// receivesFromDead checks that every way to receive from rank 1, which has died, ends with its death, except for the
// message with tag 5, which has come before.
func (r *rig) receivesFromDead() {
	r.Helper()
	_, err := r.Recv(r.ctx, 1, 6, Exact)
	r.wantDeath(1, err)
	_, err = r.TryRecv(1, 6, Exact)
	r.wantDeath(1, err)
	_, err = r.Probe(r.ctx, 1, 6, Exact)
	r.wantDeath(1, err)
	_, err = r.post(1).Wait(r.ctx)
	r.wantDeath(1, err)
	d, err := r.Recv(r.ctx, 1, 5, Exact)
	r.want("last", d, err)
}

// wantNothingYet checks that a receive from Any neither finds a message nor is told of a death once more.
func (r *rig) wantNothingYet() {
	r.Helper()
	if _, err := r.TryRecv(Any, 2, Exact); err != weft.ErrWouldBlock {
		r.Fatal(err)
	}
}
