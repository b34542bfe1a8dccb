package mpi

import (
	"context"
	"errors"
	"slices"
)

// WaitAll waits for the end of all requests, and returns their errors joined. Nil requests are left out.
func WaitAll(ctx context.Context, qs ...*Request) error {
	var errs []error
	for _, q := range qs {
		if q == nil {
			continue
		}
		if _, err := q.Wait(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// WaitAny waits for the end of one of the requests, and returns its place and what Wait returns for it. Requests that
// had ended before, and nil ones, are left out: if there are no others the place is Undefined. If ctx ends first no
// request is given up.
func WaitAny(ctx context.Context, qs ...*Request) (at int, st Status, err error) {
	at = Undefined
	err = await(ctx, qs, func() bool {
		at = slices.IndexFunc(qs, func(q *Request) bool { return q != nil && q.going && q.op.test() })
		return at >= 0
	})
	if err != nil || at < 0 {
		return Undefined, Status{}, err
	}
	st, err = qs[at].Wait(ctx)
	return at, st, err
}

// WaitSome waits for the end of at least one of the requests, and returns the places of all that have ended now. What
// became of each is what its Wait returns.
func WaitSome(ctx context.Context, qs ...*Request) (at []int, err error) {
	err = await(ctx, qs, func() bool { at = TestSome(qs...); return len(at) > 0 })
	return at, err
}

// TestAll reports whether all requests have ended.
func TestAll(qs ...*Request) bool {
	for _, q := range qs {
		if q != nil && q.going && !q.op.test() {
			return false
		}
	}
	return true
}

// TestAny returns the place of a request that has ended and for which Wait has not been called, or Undefined.
func TestAny(qs ...*Request) int {
	if at := slices.IndexFunc(qs, func(q *Request) bool { return q != nil && q.going && q.op.test() }); at >= 0 {
		return at
	}
	return Undefined
}

// TestSome returns the places of all requests that have ended and for which Wait has not been called.
func TestSome(qs ...*Request) (at []int) {
	for i, q := range qs {
		if q != nil && q.going && q.op.test() {
			at = append(at, i)
		}
	}
	return at
}
