package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/waittest"
)

// A mpichCase is a case of the MPICH test suite, by its name there, written anew: docs/MPICH.md has them all.
type mpichCase struct {
	name string
	run  func(ctx context.Context, c *Comm) error
}

// TestMPICH runs the cases one after another in one job.
func TestMPICH(t *testing.T) {
	for _, n := range []int{1, 4, 5} {
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
		defer cancel()
		err := weft.Local(ctx, n, func(ctx context.Context, p *weft.Proc) error {
			c := World(p)
			for _, k := range slices.Concat(mpichMessages, mpichCollectives, mpichWindows, mpichGroups) {
				if err := k.run(ctx, c); err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
				if err := c.Barrier(ctx); err != nil {
					return fmt.Errorf("after %s: %w", k.name, err)
				}
			}
			return c.Free(ctx)
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// TestMPICHPage: docs/MPICH.md says of each case that it is here.
func TestMPICHPage(t *testing.T) {
	page, err := os.ReadFile("../docs/MPICH.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range slices.Concat(mpichMessages, mpichCollectives, mpichWindows, mpichGroups) {
		for name := range strings.SplitSeq(k.name, ", ") {
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/MPICH.md does not say %s", name)
			}
		}
	}
}

// is returns an error unless got is want.
func is[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, not %v", what, got, want)
	}
	return nil
}

// toSelf is a message of a member to itself, which is received by Recv after send has begun it.
func toSelf(ctx context.Context, c *Comm, n int, send func(b Buffer) (*Request, error)) error {
	out := filled(c.Rank(), n)
	in := make([]int64, n)
	q, err := send(Of(out))
	if err != nil {
		return err
	}
	st, err := c.Recv(ctx, Of(in), c.Rank(), 3)
	if err != nil || !slices.Equal(in, out) || st != (Status{c.Rank(), 3, n}) {
		return fmt.Errorf("%v, %v", st, err)
	}
	_, err = q.Wait(ctx)
	return err
}

var mpichMessages = []mpichCase{
	{"sendself", func(ctx context.Context, c *Comm) error {
		var errs []error
		for _, n := range []int{0, 1, 1024, 8192} {
			errs = append(errs,
				toSelf(ctx, c, n, func(b Buffer) (*Request, error) { return c.StartSend(b, c.Rank(), 3) }),
				toSelf(ctx, c, n, func(b Buffer) (*Request, error) { return c.StartSsend(b, c.Rank(), 3) }))
		}
		return errors.Join(errs...)
	}},
	{"isendself", func(ctx context.Context, c *Comm) error { // the receive is begun first
		in := []int{0}
		q, err := c.StartRecv(Of(in), c.Rank(), 0)
		if err == nil {
			err = c.Send(ctx, Of([]int{7}), c.Rank(), 0)
		}
		if err == nil {
			_, err = q.Wait(ctx)
		}
		return errors.Join(err, is("it", in[0], 7))
	}},
	{"isendselfprobe", func(ctx context.Context, c *Comm) error {
		q, err := c.StartSend(Of([]int32{1, 2, 3}), c.Rank(), 5)
		if err != nil {
			return err
		}
		st, err := c.Probe(ctx, c.Rank(), 5)
		if err = errors.Join(err, is("the status", st, Status{c.Rank(), 5, 3})); err != nil {
			return err
		}
		in := make([]int32, st.Count)
		_, err = c.Recv(ctx, Of(in), st.Source, st.Tag)
		_, e := q.Wait(ctx)
		return errors.Join(err, e, is("the last", in[2], 3))
	}},
	{"issendselfcancel", func(ctx context.Context, c *Comm) error {
		q, err := c.StartSsend(Of([]int{1}), c.Rank(), 0)
		if err == nil {
			q.Cancel() // it may have been sent: then it is there
			_, err = c.Recv(ctx, Of([]int{0}), c.Rank(), 0)
		}
		return err
	}},
	{"mprobe_self_free", func(ctx context.Context, c *Comm) error {
		if err := c.Send(ctx, Of([]int{4}), c.Rank(), 1); err != nil {
			return err
		}
		m, st, err := c.MProbe(ctx, AnySource, AnyTag)
		if err != nil || st.Count != 1 {
			return fmt.Errorf("%v, %w", st, err)
		}
		if _, ok, err := c.TryProbe(AnySource, AnyTag); ok || err != nil {
			return fmt.Errorf("a message that is taken is found: %w", err)
		}
		in := []int{0}
		_, err = m.Recv(ctx, Of(in))
		return errors.Join(err, is("it", in[0], 4))
	}},
	{"probenull", func(ctx context.Context, c *Comm) error {
		st, err := c.Probe(ctx, ProcNull, 1)
		_, ok, e := c.TryProbe(ProcNull, 1)
		return errors.Join(err, e, is("the status", st, Status{ProcNull, AnyTag, 0}), is("TryProbe", ok, true))
	}},
	{"recvnull", func(ctx context.Context, c *Comm) error {
		st, err := c.Recv(ctx, Of([]int{1}), ProcNull, 9)
		q, e := c.StartRecv(Of([]int{1}), ProcNull, 9)
		if e == nil {
			_, e = q.Wait(ctx)
		}
		return errors.Join(err, e, is("the status", st, Status{ProcNull, AnyTag, 0}))
	}},
	{"inactivereq", func(ctx context.Context, c *Comm) error { // a persistent request that is not active
		q, err := c.StartSend(Of([]int{1}), ProcNull, 0)
		if err != nil {
			return err
		}
		_, err = q.Wait(ctx)
		done, _, e := q.Test()
		at, _, e2 := WaitAny(ctx, q)
		return errors.Join(err, e, e2, is("Test", done, true), is("WaitAny", at, Undefined), is("TestAll", TestAll(q), true),
			WaitAll(ctx, q, nil))
	}},
	{"waitany_null, waittestnull", func(ctx context.Context, c *Comm) error {
		at, _, err := WaitAny(ctx, nil, nil)
		some, e := WaitSome(ctx, nil, nil)
		return errors.Join(err, e, WaitAll(ctx), WaitAll(ctx, nil), is("WaitAny", at, Undefined),
			is("WaitSome", len(some), 0),
			is("TestAny", TestAny(nil, nil), Undefined), is("TestSome", len(TestSome(nil)), 0),
			is("TestAll", TestAll(nil), true))
	}},
	{"sendflood, many_isend", func(ctx context.Context, c *Comm) error { // all send to all, before any receives
		const each = 200
		var qs []*Request
		for i := range each {
			for to := range c.Size() {
				q, err := c.StartSend(Of([]int{i}), to, 0)
				if err != nil {
					return err
				}
				qs = append(qs, q)
			}
		}
		for i := range each {
			for from := range c.Size() {
				in := []int{0}
				if _, err := c.Recv(ctx, Of(in), from, 0); err != nil || in[0] != i {
					return fmt.Errorf("message %d of rank %d is %d: %w", i, from, in[0], err)
				}
			}
		}
		return WaitAll(ctx, qs...)
	}},
	{"manylmt, sendall, pingping, huge_anysrc", func(ctx context.Context, c *Comm) error { // many long ones at once
		var qs []*Request
		for i := range 8 {
			out, err := c.StartSend(Of(filled(i, 20_000)), (c.Rank()+1)%c.Size(), i)
			in, e := c.StartRecv(Of(make([]int64, 20_000)), AnySource, i)
			if err := errors.Join(err, e); err != nil {
				return err
			}
			qs = append(qs, out, in)
		}
		return WaitAll(ctx, qs...)
	}},
	{"huge_underflow", func(ctx context.Context, c *Comm) error { // less than there is room for
		q, err := c.StartSend(Of(filled(1, 10_000)), c.Rank(), 0)
		if err != nil {
			return err
		}
		in := make([]int64, 30_000)
		st, err := c.Recv(ctx, Of(in), AnySource, AnyTag)
		_, e := q.Wait(ctx)
		return errors.Join(err, e, is("the count", st.Count, 10_000), is("the rest", in[10_000], 0))
	}},
	{"large_tag", func(ctx context.Context, c *Comm) error {
		if err := c.Send(ctx, Of([]int{1}), c.Rank(), maxTag); err != nil {
			return err
		}
		st, err := c.Recv(ctx, Of([]int{0}), AnySource, maxTag)
		err = errors.Join(err, is("the tag", st.Tag, maxTag))
		if c.Send(ctx, Of([]int{1}), c.Rank(), -5) == nil {
			err = errors.New("a tag of -5 is none")
		}
		return err
	}},
	{"rcancel, cancelrecv, cancelanysrc", func(ctx context.Context, c *Comm) error {
		for _, from := range []int{c.Rank(), AnySource} {
			in := []int{0}
			a, err := c.StartRecv(Of(in), from, 8)
			b, e := c.StartRecv(Of(in), from, 8)
			if err := errors.Join(err, e); err != nil {
				return err
			}
			if !a.Cancel() {
				return errors.New("a receive without a message is not cancelled")
			}
			if err := c.Send(ctx, Of([]int{6}), c.Rank(), 8); err != nil {
				return err
			}
			if _, err := b.Wait(ctx); err != nil || b.Cancel() {
				return fmt.Errorf("the next receive: %w", err)
			}
		}
		return nil
	}},
	{"scancel, scancel2, pscancel", func(ctx context.Context, c *Comm) error { // a long message that nobody receives
		q, err := c.StartSend(Of(filled(0, 100_000)), (c.Rank()+1)%c.Size(), 77)
		if err != nil {
			return err
		}
		cancelled := q.Cancel()
		if err := c.Barrier(ctx); err != nil { // none receives before all have cancelled
			return err
		}
		if err := c.Send(ctx, Of([]int64{5}), (c.Rank()+1)%c.Size(), 77); err != nil {
			return err
		}
		in := make([]int64, 100_000)
		st, err := c.Recv(ctx, Of(in), AnySource, 77) // the header has gone ahead, but it gets the next message
		err = errors.Join(err, is("the count", st.Count, 1), is("it", in[0], 5))
		return errors.Join(err, is("Cancel", cancelled, true))
	}},
	{"isendrecv, isendirecv, sendrecv1, isendrecv_replace", func(ctx context.Context, c *Comm) error {
		next := (c.Rank() + 1) % c.Size()
		before := (c.Rank() + c.Size() - 1) % c.Size()
		in := []int{0}
		_, err := c.SendRecv(ctx, Of([]int{c.Rank()}), next, 1, Of(in), before, 1)
		if err = errors.Join(err, is("it", in[0], before)); err != nil {
			return err
		}
		_, err = c.SendRecvReplace(ctx, Of(in), next, 2, before, 2)
		return errors.Join(err, is("then it", in[0], (before+c.Size()-1)%c.Size()))
	}},
	{"sendrecv2, sendrecv3, eagerdt, dtype_send, bottom", func(ctx context.Context, c *Comm) error { // through sections
		m := make([]float64, 60)
		for i := range m {
			m[i] = float64(i)
		}
		in := make([]float64, 20)
		for range 30 {
			if _, err := c.SendRecv(ctx, Part(m, Vector(1, 20, 1, 3)), c.Rank(), 0, Of(in), c.Rank(), 0); err != nil {
				return err
			}
		}
		return is("the last", in[19], 58)
	}},
	{"rqstatus, rqfree, rqfreeb", func(ctx context.Context, c *Comm) error {
		in := make([]int, 4)
		q, err := c.StartRecv(Of(in), AnySource, AnyTag)
		if err != nil {
			return err
		}
		if _, err = c.StartSend(Of([]int{1, 2}), c.Rank(), 6); err != nil { // nothing refers to it any more
			return err
		}
		st, err := q.Wait(ctx)
		again, e := q.Wait(ctx)
		return errors.Join(err, e, is("the status", st, Status{c.Rank(), 6, 2}), is("again", again, st))
	}},
	{"mprobe", func(ctx context.Context, c *Comm) error { // one after another, long and short
		var qs []*Request
		for _, n := range []int{3, 100_000} {
			q, err := c.StartSend(Of(filled(0, n)), c.Rank(), 2)
			if err != nil {
				return err
			}
			qs = append(qs, q)
		}
		for _, n := range []int{3, 100_000} {
			m, st, err := c.MProbe(ctx, c.Rank(), 2)
			if err = errors.Join(err, is("the count", st.Count, n)); err != nil {
				return err
			}
			in := make([]int64, n)
			if _, err = m.Recv(ctx, Of(in)); err != nil || !slices.Equal(in, filled(0, n)) {
				return fmt.Errorf("%d: %w", n, err)
			}
		}
		return WaitAll(ctx, qs...)
	}},
	{"probe_unexp", func(ctx context.Context, c *Comm) error { // sender, tag and length
		next := (c.Rank() + 1) % c.Size()
		before := (c.Rank() + c.Size() - 1) % c.Size()
		q, err := c.StartSend(Of(make([]byte, 1000*(c.Rank()+1))), next, c.Rank())
		if err != nil {
			return err
		}
		st, err := c.Probe(ctx, AnySource, AnyTag)
		if err = errors.Join(err, is("the status", st, Status{before, before, 1000 * (before + 1)})); err != nil {
			return err
		}
		_, err = c.Recv(ctx, Of(make([]byte, st.Count)), st.Source, st.Tag)
		_, e := q.Wait(ctx)
		return errors.Join(err, e)
	}},
	{"precv_anysrc, precv_anysrc_exp, recv_any, irecv_any", func(ctx context.Context, c *Comm) error { // started again
		in := []int{0}
		q, err := c.StartRecv(Of(in), AnySource, 4)
		for i := 0; err == nil && i < 5; i++ {
			if err = c.Send(ctx, Of([]int{i}), c.Rank(), 4); err == nil {
				_, err = q.Wait(ctx)
			}
			if err = errors.Join(err, is("it", in[0], i)); err == nil && i < 4 {
				err = q.Start()
			}
		}
		return err
	}},
	{"pssend, anyall, huge_ssend", func(ctx context.Context, c *Comm) error { // synchronous, and started again
		for _, n := range []int{1, 50_000} {
			in := make([]int64, n)
			q, err := c.StartSsend(Of(filled(2, n)), c.Rank(), 4)
			for i := 0; err == nil && i < 3; i++ {
				if done, _, _ := q.Test(); done {
					return errors.New("a synchronous send has ended before it was received")
				}
				if _, err = c.Recv(ctx, Of(in), AnySource, AnyTag); err == nil {
					_, err = q.Wait(ctx)
				}
				if err == nil && i < 2 {
					err = q.Start()
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"huge_dupcomm", func(ctx context.Context, c *Comm) error { // messages of two communicators with the same tag
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		a, err := c.StartSend(Of(filled(1, 50_000)), c.Rank(), 0)
		b, e := d.StartSend(Of(filled(2, 50_000)), c.Rank(), 0)
		if err := errors.Join(err, e); err != nil {
			return err
		}
		in := make([]int64, 50_000)
		if _, err := d.Recv(ctx, Of(in), AnySource, AnyTag); err != nil || !slices.Equal(in, filled(2, 50_000)) {
			return fmt.Errorf("the second one: %w", err)
		}
		if _, err := c.Recv(ctx, Of(in), AnySource, AnyTag); err != nil || !slices.Equal(in, filled(1, 50_000)) {
			return fmt.Errorf("the first one: %w", err)
		}
		return errors.Join(WaitAll(ctx, a, b), d.Free(ctx))
	}},
}
