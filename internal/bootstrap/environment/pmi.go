package environment

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/pmi"
	"weft/internal/bootstrap/rendezvous"
)

// readPMI leaves the numbers to be asked for.
func readPMI(e Environment) (Plan, error) { return Plan{}, nil }

// pmiKey is where rank 0 puts how it is found.
const pmiKey = "weft-rendezvous"

// A beacon is how rank 0 is found, and by what ranks recognize each other: what it publishes where
// there is a place for that.
type beacon struct {
	host      string // its identity
	port      int
	secret    []byte // nil if the ranks know one
	addresses []string
}

// String returns a beacon as text with letters, digits and :.,- only.
func (b beacon) String() string {
	return strings.Join(append([]string{"1", b.host, strconv.Itoa(b.port), hex.EncodeToString(b.secret)}, b.addresses...),
		",")
}

// parseBeacon reads one.
func parseBeacon(text string) (b beacon, err error) {
	parts := strings.Split(text, ",")
	if len(parts) < 4 || parts[0] != "1" {
		return b, fmt.Errorf("weft: rank 0 has published %.40q: is the program of all ranks the same?", text)
	}
	b.host = parts[1]
	b.addresses = parts[4:]
	if b.port, err = strconv.Atoi(parts[2]); err == nil {
		b.secret, err = hex.DecodeString(parts[3])
	}
	if err != nil || b.port < 1 || b.port > 65535 || len(b.addresses) > mostAddresses {
		return b, fmt.Errorf("weft: rank 0 has published %.40q: must be a port, a secret and addresses", text)
	}
	if len(b.secret) == 0 {
		b.secret = nil
	}
	return b, nil
}

// where returns the addresses of a beacon as this process tries them.
func (b beacon) where(host string) (all []string) {
	near := nearFirst(b.addresses)
	if b.host == host {
		near = append([]string{"127.0.0.1"}, near...)
	}
	for _, a := range near {
		all = append(all, net.JoinHostPort(a, strconv.Itoa(b.port)))
	}
	return all
}

// joinPMI joins a job whose ranks find rank 0 by PMI. The client stays open until the source is
// closed: its end is that of the process, for the process manager.
func (j *joining) joinPMI(ctx context.Context) (_ *Source, err error) {
	get := j.env.Get
	c, err := pmi.Open(ctx, pmi.Address{
		FD: get("PMI_FD"), Port: get("PMI_PORT"), ID: get("PMI_ID"), Rank: get("PMI_RANK"), Size: get("PMI_SIZE"),
		Job: get("PMI_JOBID"),
	})
	if err != nil {
		return nil, err
	}
	j.plan.Rank = c.Rank()
	j.plan.Size = c.Size()
	j.plan.Label = "pmi " + c.Job()
	if j.plan.Size == 1 {
		return &Source{Source: bootstrap.NewLocal(1)[0], pmi: c}, nil
	}
	var store *rendezvous.Store
	defer func() {
		if err != nil && store != nil {
			store.Close()
		}
		if err != nil {
			c.Close()
		}
	}()
	if j.plan.Rank == 0 {
		var made []byte
		if j.plan.Secret == nil {
			made = bootstrap.NewSecret()
			j.plan.Secret = made
		}
		if store, err = j.serve(ctx); err == nil {
			b := j.beacon(store)
			b.secret = made
			err = c.Put(ctx, pmiKey, b.String())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.Fence(ctx); err != nil {
		return nil, fmt.Errorf("weft: rank %d of %d at the barrier of PMI, to which all ranks must come: %w", c.Rank(),
			c.Size(), err)
	}
	where := func(context.Context) ([]string, error) { return nil, nil }
	if store == nil {
		text, found, err := c.Get(ctx, pmiKey)
		if err == nil && !found {
			err = fmt.Errorf("weft: rank 0 has published nothing by PMI: is it a program of weft's?")
		}
		var b beacon
		if err == nil {
			b, err = parseBeacon(text)
		}
		if err != nil {
			return nil, err
		}
		if b.secret != nil {
			j.plan.Secret = b.secret
		}
		where = func(context.Context) ([]string, error) { return b.where(j.host.ID), nil }
	}
	s, err := j.meet(ctx, store, where)
	if err != nil {
		return nil, err
	}
	s.pmi = c
	return s, nil
}
