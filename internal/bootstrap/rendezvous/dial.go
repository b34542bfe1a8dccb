package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/handshake"
)

// Dialling says how rank 0's store is found.
type Dialling struct {
	// Addresses returns where the store may be, as host:port. It is asked before every round,
	// since names and places may appear late, and may block until it knows any.
	Addresses func(ctx context.Context) ([]string, error)

	Member bootstrap.Member // the rank that looks for it
	Secret []byte
	// is told after ten seconds, and then each time that another reason keeps the store from being found
	Notice func(string)
}

// Times of looking for the store.
const (
	patience   = 10 * time.Second // after which the user is told
	eachTry    = 5 * time.Second  // for one address to answer
	shortPause = 20 * time.Millisecond
	longPause  = time.Second
)

// Dial finds the store, joins, and returns when all ranks have. It tries until ctx ends:
// names that do not resolve yet and stores that are not there yet are no errors. What is
// one: a rank that is refused, and a store that has kept to another secret for ten seconds.
func Dial(ctx context.Context, d Dialling) (*bootstrap.Launched, error) {
	began := time.Now()
	pause := shortPause
	told := ""
	var reason error // why the last round that ctx did not cut short has not found the store
	for {
		found, err := d.round(ctx)
		if err == nil {
			return found, nil
		}
		if reason == nil || ctx.Err() == nil {
			reason = err
		}
		var refused *failure.JoinRefusedError
		var missing *failure.MissingError
		switch late := time.Since(began) > patience; {
		case errors.As(err, &missing), errors.As(err, &refused) && !refused.OtherJob:
			return nil, err
		case errors.Is(err, failure.ErrSecret) && late:
			return nil, err
		case ctx.Err() != nil && errors.As(reason, &refused):
			refused.Cause = ctx.Err()
			return nil, refused
		case ctx.Err() != nil:
			return nil, fmt.Errorf("weft: rank %d has not found rank 0: %w (%w)", d.Member.Rank, reason, ctx.Err())
		case late && err.Error() != told:
			told = err.Error()
			d.Notice(fmt.Sprintf("rank %d is looking for rank 0: %s", d.Member.Rank, strings.TrimPrefix(told, "weft: ")))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longPause)
	}
}

// round tries every address once. Its error is that of the address that came closest.
func (d *Dialling) round(ctx context.Context) (*bootstrap.Launched, error) {
	addresses, err := d.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addresses {
		found, err := d.try(ctx, a)
		var refused *failure.JoinRefusedError
		var missing *failure.MissingError
		if err == nil || errors.As(err, &missing) || errors.As(err, &refused) && !refused.OtherJob {
			return found, err
		}
		errs = append(errs, fmt.Errorf("%s: %w", a, err))
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return errors.Is(err, failure.ErrSecret) }); i >= 0 {
		return nil, errs[i]
	}
	if len(errs) == 0 {
		return nil, errors.New("weft: no address is known")
	}
	return nil, closest(errs)
}

// closest returns the first error, with how many more there are: addresses come in the
// order in which they are likely.
func closest(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return fmt.Errorf("%w, and %d more addresses did not answer either", errs[0], len(errs)-1)
}

// try joins the job by one address.
func (d *Dialling) try(ctx context.Context, address string) (*bootstrap.Launched, error) {
	soon, cancel := context.WithTimeoutCause(ctx, eachTry, os.ErrDeadlineExceeded)
	defer cancel()
	// A name may stand for addresses of both families. They are tried in their order, not at the same time: packets take
	// the family by which the store was reached, and all ranks need the same one.
	c, err := (&net.Dialer{FallbackDelay: -1}).DialContext(soon, "tcp", address)
	if err != nil {
		return nil, explain(err)
	}
	stop := context.AfterFunc(soon, func() { c.SetDeadline(time.Unix(1, 0)) })
	said, err := handshake.Pair{Secret: d.Secret, Dialler: uint32(d.Member.Rank)}.Dial(c, protocol)
	if err != nil || !stop() {
		c.Close()
		if errors.Is(err, handshake.ErrStranger) {
			return nil, failure.ErrSecret
		}
		return nil, fmt.Errorf("what answers there is no store of weft's, or is crowded (%w)", err)
	}
	watch(c, 0) // rank 0 tells the job's time
	m := d.Member
	m.Address = ip(c.LocalAddr())
	found, err := bootstrap.Enter(ctx, newStream(c, said, true), m)
	if err == nil {
		watch(c, found.Job().Liveness)
	}
	return found, err
}

// explain shortens what the net package says about a failure to connect.
func explain(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return fmt.Errorf("the name %s is not known (yet)", dns.Name)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
